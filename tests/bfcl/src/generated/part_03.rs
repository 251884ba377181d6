// Written by `cargo run -p bfcl-gen`, do not edit.

//! From `environmental_data_air_quality_index` to `get_air_quality_index`.

use tool_core::prelude::*;

use crate::arrived::{Arrived, arrived};

/// Retrieves Air Quality Index (AQI) for specified location over a number of days.
#[tool(category = "simple_python")]
pub async fn environmental_data_air_quality_index(
    /// Name of the city or town to retrieve air quality index for.
    location: String,
    /// Number of days for which to retrieve data. If not provided, default to today.
    days: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&environmental_data_air_quality_index { location, days })
}

/// Calculate the estimated return on a mutual fund given the yearly yield, the investment amount and the time period.
#[tool(category = "simple_python")]
pub async fn estimate_mutual_fund_return(
    /// The yearly yield of the mutual fund as a percentage.
    yearly_yield: f64,
    /// The initial investment amount in the mutual fund.
    investment_amount: i64,
    /// The time period for which the investment is made in years.
    years: i64,
) -> Result<Arrived, ToolError> {
    arrived(&estimate_mutual_fund_return { yearly_yield, investment_amount, years })
}

/// Calculate the Euclidean distance between two points.
#[tool(category = "parallel_multiple")]
pub async fn euclidean_distance_calculate(
    /// Coordinates for Point A.
    #[arg(rename = "pointA")]
    point_a: Vec<i64>,
    /// Coordinates for Point B.
    #[arg(rename = "pointB")]
    point_b: Vec<i64>,
    /// Optional: The number of decimals to round off the result.
    #[arg(default = 2)]
    rounding: i64,
) -> Result<Arrived, ToolError> {
    arrived(&euclidean_distance_calculate { point_a, point_b, rounding })
}

/// Search for calendar events that match a given text query within a user's calendar. The search considers both the title and description of the events.
#[tool(category = "live_multiple")]
pub async fn event_query(
    /// The text to search for within the title and description of an event.
    search_string: String,
    /// The start date for the range of events to search, in the format 'YYYY-MM-DD'.
    #[arg(default = "null")]
    start_date: String,
    /// The end date for the range of events to search, in the format 'YYYY-MM-DD'.
    #[arg(default = "null")]
    end_date: String,
    /// A flag to indicate whether to include recurring events in the search.
    #[arg(default = false)]
    include_recurring: bool,
) -> Result<Arrived, ToolError> {
    arrived(&event_query { search_string, start_date, end_date, include_recurring })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Events3FindEventsEventType {
    Music,
    Theater,
}

/// Find cultural events, such as concerts and plays, happening in a specified city on a given date.
#[tool(category = "live_multiple")]
pub async fn events_3_find_events(
    /// The type of cultural event to find. Events include concerts and plays.
    event_type: Events3FindEventsEventType,
    /// The city where the event is taking place, in the format 'City, State' or 'City, Country' (e.g., 'New York, NY' or 'London, UK').
    city: String,
    /// The date of the event. Use the format 'YYYY-MM-DD'. If not specified, the current date is used.
    date: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&events_3_find_events { event_type, city, date })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Events3FindEvents2EventType {
    Music,
    Theater,
}

/// Find cultural events, such as concerts and plays, happening in a specified city on a particular date.
#[tool(category = "live_multiple")]
pub async fn events_3_find_events_2(
    /// The type of cultural event to find.
    event_type: Events3FindEvents2EventType,
    /// The city where the event is taking place, in the format of 'City, State', such as 'Berkeley, CA' or 'New York, NY'. State names must be abbreviated
    city: String,
    /// The date of the event in the format 'YYYY-MM-DD'. If not specified, the current date is assumed.
    #[arg(default = "null")]
    date: String,
) -> Result<Arrived, ToolError> {
    arrived(&events_3_find_events_2 { event_type, city, date })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Events3FindEvents3EventType {
    Music,
    Theater,
}

/// Finds and lists cultural events, such as concerts and plays, that are scheduled to occur in a specified city.
#[tool(category = "live_multiple")]
pub async fn events_3_find_events_3(
    /// The category of the cultural event.
    event_type: Events3FindEvents3EventType,
    /// The name of the city where the event is happening, formatted as 'City, State' or 'City' if the city doesn't belong to a state. For example, 'New York, NY' or 'Paris'.
    city: String,
    /// The date of the event, formatted as 'YYYY-MM-DD'. If not specified, any date is considered.
    #[arg(default = "any")]
    date: String,
) -> Result<Arrived, ToolError> {
    arrived(&events_3_find_events_3 { event_type, city, date })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Events3FindEvents4EventType {
    Music,
    Theater,
}

/// Retrieves a list of cultural events such as concerts and plays happening in a specified city on a given date.
#[tool(category = "live_multiple")]
pub async fn events_3_find_events_4(
    /// The category of the cultural event to find.
    event_type: Events3FindEvents4EventType,
    /// The name of the city where the event is taking place, in the format of 'City, State', such as 'New York, NY' or 'Los Angeles, CA'.
    city: String,
    /// The date of the event in the format 'YYYY-MM-DD'. If 'dontcare' is specified, any date will be considered. The default value 'dontcare' represents no specific date preference.
    #[arg(default = "dontcare")]
    date: String,
) -> Result<Arrived, ToolError> {
    arrived(&events_3_find_events_4 { event_type, city, date })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Events3FindEvents5EventType {
    Music,
    Theater,
}

/// Find cultural events, such as concerts and plays, happening in a specified city and optionally on a specific date.
#[tool(category = "live_multiple")]
pub async fn events_3_find_events_5(
    /// The type of cultural event to find. Possible values are 'Music' for concerts and 'Theater' for plays.
    event_type: Events3FindEvents5EventType,
    /// The city where the event is taking place, in the format of 'City, State' (e.g., 'New York, NY').
    city: String,
    /// The date of the event in the format 'YYYY-MM-DD'. If not specified, the function will search for events regardless of date.
    date: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&events_3_find_events_5 { event_type, city, date })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Events3FindEvents6EventType {
    Music,
    Theater,
}

/// Finds and lists cultural events, such as concerts and plays, that are scheduled to occur in a specified city.
#[tool(category = "live_parallel_multiple")]
pub async fn events_3_find_events_6(
    /// The category of the cultural event.
    event_type: Events3FindEvents6EventType,
    /// The name of the city where the event is happening, formatted as 'City, State (abbr)' or 'City'. For example, 'New York, NY' or 'Paris'. Use short form for the state.
    city: String,
    /// The date of the event, formatted as 'YYYY-MM-DD'. If not specified, any date is considered.
    #[arg(default = "any")]
    date: String,
) -> Result<Arrived, ToolError> {
    arrived(&events_3_find_events_6 { event_type, city, date })
}

/// Retrieve all Kubernetes info events within the specified timeframe. Events can be filtered to show only updates or exclude events triggered before the timeframe. Suitable for 3rd party integrations fetching events in scheduled batches.
#[tool(category = "live_multiple")]
pub async fn events_api_events_api_kubernetes_info_events(
    /// The end of the requested timeframe as a Unix timestamp.
    to: i64,
    /// The size of the requested timeframe in milliseconds relative to 'to'. Defaults to 10 minutes (600,000 milliseconds) if neither 'windowSize' nor 'from' is provided.
    #[arg(rename = "windowSize", default = 600000)]
    window_size: i64,
    /// The start of the requested timeframe as a Unix timestamp, defining the range [from, to). Optional. If not provided, defaults to 'to' minus 'windowSize'.
    #[arg(rename = "_from")]
    from: Option<i64>,
    /// Exclude events that were triggered before the requested timeframe. Useful for only searching events that started within the given timeframe. Defaults to false.
    #[arg(rename = "excludeTriggeredBefore", default = false)]
    exclude_triggered_before: bool,
    /// Filter results to only include event updates that occurred within the given timeframe. Defaults to false.
    #[arg(rename = "filterEventUpdates", default = false)]
    filter_event_updates: bool,
) -> Result<Arrived, ToolError> {
    arrived(&events_api_events_api_kubernetes_info_events { to, window_size, from, exclude_triggered_before, filter_event_updates })
}

/// Fetch details of a specific law case based on case number, year and court.
#[tool(category = "simple_python")]
pub async fn fetch_law_case_details(
    /// The specific number of the law case.
    case_number: i64,
    /// The city name where the court takes place
    court: String,
    /// The year in which the law case took place.
    year: i64,
) -> Result<Arrived, ToolError> {
    arrived(&fetch_law_case_details { case_number, court, year })
}

/// Retrieves the details of a person using their unique identifier.
#[tool(category = "live_simple")]
pub async fn fetch_person(
    /// The unique identifier for the person to be fetched.
    id: i64,
) -> Result<Arrived, ToolError> {
    arrived(&fetch_person { id })
}

/// Filters elements of a list based on a given condition
#[tool(category = "parallel_multiple")]
pub async fn filter_list(
    /// The list of elements to filter.
    elements: Vec<String>,
    /// The condition to filter the elements on.
    condition: String,
) -> Result<Arrived, ToolError> {
    arrived(&filter_list { elements, condition })
}

/// Calculate the future value of an investment given an initial investment, annual rate of return, and a time frame.
#[tool(category = "simple_python")]
pub async fn finance_calculate_future_value(
    /// The initial investment amount.
    initial_investment: i64,
    /// The annual rate of return.
    rate_of_return: f64,
    /// The time frame of the investment in years.
    years: i64,
    /// Optional: Additional regular contributions. Default is 0.
    contribution: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&finance_calculate_future_value { initial_investment, rate_of_return, years, contribution })
}

/// Calculates the monthly repayment for a loan.
#[tool(category = "parallel_multiple")]
pub async fn finance_loan_repayment(
    /// The amount borrowed or loaned.
    loan_amount: f64,
    /// The annual interest rate.
    interest_rate: f64,
    /// The term of the loan in years.
    loan_term: i64,
) -> Result<Arrived, ToolError> {
    arrived(&finance_loan_repayment { loan_amount, interest_rate, loan_term })
}

/// Calculate the future value of an investment given its present value, interest rate, the number of compounding periods per year, and the time horizon.
#[tool(category = "simple_python")]
pub async fn finance_predict_future_value(
    /// The present value of the investment.
    present_value: i64,
    /// The annual interest rate of the investment.
    annual_interest_rate: f64,
    /// The number of times that interest is compounded per year. Default is 1 (annually).
    compounding_periods_per_year: Option<i64>,
    /// The investment horizon in years.
    time_years: i64,
) -> Result<Arrived, ToolError> {
    arrived(&finance_predict_future_value { present_value, annual_interest_rate, compounding_periods_per_year, time_years })
}

/// Calculate the debt ratio of a company given the total liabilities and total assets.
#[tool(category = "parallel_multiple")]
pub async fn financial_ratio_debt_ratio(
    /// The total liabilities of the company.
    total_liabilities: i64,
    /// The total assets of the company.
    total_assets: i64,
) -> Result<Arrived, ToolError> {
    arrived(&financial_ratio_debt_ratio { total_liabilities, total_assets })
}

/// Calculate the return on equity (ROE) for a company.
#[tool(category = "parallel_multiple")]
pub async fn financial_ratios_calculate_roe(
    /// Net income for the period.
    net_income: f64,
    /// Average shareholder equity for the period.
    shareholder_equity: f64,
) -> Result<Arrived, ToolError> {
    arrived(&financial_ratios_calculate_roe { net_income, shareholder_equity })
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct FindCardInDeckDeck {
    /// The `rank`.
    pub rank: Option<String>,
    /// The `suit`.
    pub suit: Option<String>,
}

/// Locate a particular card in a deck based on rank and suit.
#[tool(category = "parallel_multiple")]
pub async fn find_card_in_deck(
    /// Rank of the card (e.g. Ace, Two, King).
    rank: String,
    /// Suit of the card (e.g. Hearts, Spades, Diamonds, Clubs).
    suit: String,
    /// Deck of cards. If not provided, the deck will be default to an empty array
    deck: Option<Vec<FindCardInDeckDeck>>,
) -> Result<Arrived, ToolError> {
    arrived(&find_card_in_deck { rank, suit, deck })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum FindExhibitionUserRatings {
    #[serde(rename = "low")]
    Low,
    #[serde(rename = "average")]
    Average,
    #[serde(rename = "high")]
    High,
}

/// Locate the most popular exhibitions based on criteria like location, time, art form, and user ratings.
#[tool(category = "multiple")]
pub async fn find_exhibition(
    /// The city where the exhibition is held, e.g., New York, NY.
    location: String,
    /// The form of art the exhibition is displaying e.g., sculpture.
    art_form: String,
    /// The month of exhibition. Default value will return upcoming events.
    month: Option<String>,
    /// Select exhibitions with user rating threshold. Default is 'high'
    user_ratings: Option<FindExhibitionUserRatings>,
) -> Result<Arrived, ToolError> {
    arrived(&find_exhibition { location, art_form, month, user_ratings })
}

/// Search for a musical instrument within specified budget and of specific type.
#[tool(category = "parallel_multiple")]
pub async fn find_instrument(
    /// Your budget for the instrument.
    budget: i64,
    /// Type of the instrument
    r#type: String,
    /// Maker of the instrument, Optional parameter. Default to not use it if not provided.
    make: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&find_instrument { budget, r#type, make })
}

/// Find the latest court case between two companies.
#[tool(category = "simple_python")]
pub async fn find_latest_court_case(
    /// The name of the first company.
    company1: String,
    /// The name of the second company.
    company2: String,
    /// The country in which the court case is located.
    #[arg(default = "USA")]
    country: String,
) -> Result<Arrived, ToolError> {
    arrived(&find_latest_court_case { company1, company2, country })
}

/// Locate nearby music instrument stores that sell specific brands or instruments
#[tool(category = "parallel")]
pub async fn find_music_instrument_store(
    /// The city and state e.g. San Francisco, CA.
    location: String,
    /// A list of specific instruments or brands you are looking for.
    instruments: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&find_music_instrument_store { location, instruments })
}

/// Locate nearby restaurants based on user defined criteria
#[tool(category = "simple_python")]
pub async fn find_restaurant(
    /// The location where user wants to search for a restaurant.
    location: String,
    /// The type of the cuisine/restaurant.
    r#type: String,
    /// Special dietary preferences.
    diet_option: String,
) -> Result<Arrived, ToolError> {
    arrived(&find_restaurant { location, r#type, diet_option })
}

/// Book a flight for a specific route and airlines
#[tool(category = "parallel_multiple")]
pub async fn flight_book(
    /// The departure city in full name.
    #[arg(rename = "_from")]
    from: String,
    /// The arrival city in full name.
    to: String,
    /// The preferred airline.
    airlines: String,
) -> Result<Arrived, ToolError> {
    arrived(&flight_book { from, to, airlines })
}

/// Checks the current status of a flight using the flight's unique identifier and the passenger's name and ticket number.
#[tool(category = "live_simple")]
pub async fn flight_status_check(
    /// The unique identifier of the flight, typically in the format 'XX123' where 'XX' represents the airline code followed by the flight number.
    flight_id: String,
    /// Full name or first name of the passenger as it appears on the ticket.
    passenger_name: String,
    /// Unique ticket number provided to the passenger upon booking, usually consisting of a series of numbers and/or letters.
    ticket_number: String,
) -> Result<Arrived, ToolError> {
    arrived(&flight_status_check { flight_id, passenger_name, ticket_number })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Flights4SearchOnewayFlightSeatingClass {
    Economy,
    #[serde(rename = "Premium Economy")]
    PremiumEconomy,
    Business,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Flights4SearchOnewayFlightAirlines {
    #[serde(rename = "United Airlines")]
    UnitedAirlines,
    #[serde(rename = "American Airlines")]
    AmericanAirlines,
    #[serde(rename = "Delta Airlines")]
    DeltaAirlines,
    #[serde(rename = "Southwest Airlines")]
    SouthwestAirlines,
    #[serde(rename = "Alaska Airlines")]
    AlaskaAirlines,
    #[serde(rename = "British Airways")]
    BritishAirways,
    #[serde(rename = "Air Canada")]
    AirCanada,
    #[serde(rename = "Air France")]
    AirFrance,
    #[serde(rename = "South African Airways")]
    SouthAfricanAirways,
    #[serde(rename = "LOT Polish Airlines")]
    LotPolishAirlines,
    #[serde(rename = "LATAM Brasil")]
    LatamBrasil,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Search for one-way flights from an origin to a destination on a specified date, with options for seating class and preferred airlines.
#[tool(category = "live_multiple")]
pub async fn flights_4_search_oneway_flight(
    /// The IATA airport code depart from, such as 'JFK' for John F. Kennedy International Airport
    origin_airport: String,
    /// The IATA airport code to arrive at, such as 'LAX' for Los Angeles International Airport
    destination_airport: String,
    /// The start date of the trip in the format 'YYYY-MM-DD', such as '2023-04-15'.
    departure_date: String,
    /// The cabin class option for the flight.
    #[arg(default = "Economy")]
    seating_class: Flights4SearchOnewayFlightSeatingClass,
    /// The number of flight tickets required for the trip.
    #[arg(default = 1)]
    number_of_tickets: i64,
    /// The preferred airline for the flight. Use 'dontcare' to include all available airlines.
    #[arg(default = "dontcare")]
    airlines: Flights4SearchOnewayFlightAirlines,
) -> Result<Arrived, ToolError> {
    arrived(&flights_4_search_oneway_flight { origin_airport, destination_airport, departure_date, seating_class, number_of_tickets, airlines })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Flights4SearchRoundtripFlightsSeatingClass {
    Economy,
    #[serde(rename = "Premium Economy")]
    PremiumEconomy,
    Business,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Flights4SearchRoundtripFlightsAirlines {
    #[serde(rename = "United Airlines")]
    UnitedAirlines,
    #[serde(rename = "American Airlines")]
    AmericanAirlines,
    #[serde(rename = "Delta Airlines")]
    DeltaAirlines,
    #[serde(rename = "Southwest Airlines")]
    SouthwestAirlines,
    #[serde(rename = "Alaska Airlines")]
    AlaskaAirlines,
    #[serde(rename = "British Airways")]
    BritishAirways,
    #[serde(rename = "Air Canada")]
    AirCanada,
    #[serde(rename = "Air France")]
    AirFrance,
    #[serde(rename = "South African Airways")]
    SouthAfricanAirways,
    #[serde(rename = "LOT Polish Airlines")]
    LotPolishAirlines,
    #[serde(rename = "LATAM Brasil")]
    LatamBrasil,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Search for roundtrip flights based on origin, destination, dates, seating class, and other preferences.
#[tool(category = "live_multiple")]
pub async fn flights_4_search_roundtrip_flights(
    /// The IATA airport code such as 'JFK' for John F. Kennedy International Airport.
    origin_airport: String,
    /// The IATA airport code, such as 'LAX' for Los Angeles International Airport.
    destination_airport: String,
    /// The departure date for the trip in the format 'YYYY-MM-DD'.
    #[arg(default = "null")]
    departure_date: String,
    /// The return date for the trip in the format 'YYYY-MM-DD'.
    #[arg(default = "null")]
    return_date: String,
    /// The class of the cabin seat for the flight.
    #[arg(default = "Economy")]
    seating_class: Flights4SearchRoundtripFlightsSeatingClass,
    /// The number of flight tickets required for the trip.
    #[arg(default = 1)]
    number_of_tickets: i64,
    /// Preferred airline for the flight. If no preference, 'dontcare' can be specified.
    #[arg(default = "dontcare")]
    airlines: Flights4SearchRoundtripFlightsAirlines,
) -> Result<Arrived, ToolError> {
    arrived(&flights_4_search_roundtrip_flights { origin_airport, destination_airport, departure_date, return_date, seating_class, number_of_tickets, airlines })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Flights4SearchRoundtripFlights2SeatingClass {
    Economy,
    #[serde(rename = "Premium Economy")]
    PremiumEconomy,
    Business,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Flights4SearchRoundtripFlights2Airlines {
    #[serde(rename = "United Airlines")]
    UnitedAirlines,
    #[serde(rename = "American Airlines")]
    AmericanAirlines,
    #[serde(rename = "Delta Airlines")]
    DeltaAirlines,
    #[serde(rename = "Southwest Airlines")]
    SouthwestAirlines,
    #[serde(rename = "Alaska Airlines")]
    AlaskaAirlines,
    #[serde(rename = "British Airways")]
    BritishAirways,
    #[serde(rename = "Air Canada")]
    AirCanada,
    #[serde(rename = "Air France")]
    AirFrance,
    #[serde(rename = "South African Airways")]
    SouthAfricanAirways,
    #[serde(rename = "LOT Polish Airlines")]
    LotPolishAirlines,
    #[serde(rename = "LATAM Brasil")]
    LatamBrasil,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Search for roundtrip flights based on origin, destination, dates, seating class, and other preferences.
#[tool(category = "live_multiple")]
pub async fn flights_4_search_roundtrip_flights_2(
    /// The IATA airport code to depart from, such as 'JFK' for John F. Kennedy International Airport.
    origin_airport: String,
    /// The IATA airport code to arrive at, such as 'LAX' for Los Angeles International Airport.
    destination_airport: String,
    /// The departure date for the trip in the format 'YYYY-MM-DD'.
    departure_date: Option<String>,
    /// The return date for the trip in the format 'YYYY-MM-DD'.
    return_date: Option<String>,
    /// The class of the cabin seat for the flight.
    #[arg(default = "Economy")]
    seating_class: Flights4SearchRoundtripFlights2SeatingClass,
    /// The number of flight tickets required for the trip.
    #[arg(default = 1)]
    number_of_tickets: i64,
    /// Preferred airline for the flight. If no preference, 'dontcare' can be specified.
    #[arg(default = "dontcare")]
    airlines: Flights4SearchRoundtripFlights2Airlines,
) -> Result<Arrived, ToolError> {
    arrived(&flights_4_search_roundtrip_flights_2 { origin_airport, destination_airport, departure_date, return_date, seating_class, number_of_tickets, airlines })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum FmpIncomeStatementPeriod {
    #[serde(rename = "annual")]
    Annual,
    #[serde(rename = "quarter")]
    Quarter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum FmpIncomeStatementDatatype {
    #[serde(rename = "json")]
    Json,
    #[serde(rename = "csv")]
    Csv,
}

/// Fetches income statement data for a given stock symbol or Central Index Key (CIK), for a specified period. The user may also specify the data format and the maximum number of records to return.
#[tool(category = "live_multiple")]
pub async fn fmp_income_statement(
    /// The stock symbol or company identifier, such as 'AAPL' for Apple Inc.
    symbol: String,
    /// The reporting period for which the income statement is to be fetched, such as 'annual' or 'quarter'.
    period: FmpIncomeStatementPeriod,
    /// The Central Index Key (CIK) of the company, which is a unique identifier assigned by the SEC.
    cik: Option<String>,
    /// The format in which the data will be returned, with options 'json' and 'csv'.
    #[arg(default = "json")]
    datatype: FmpIncomeStatementDatatype,
    /// The maximum number of records to return. Defaults to 10 if not specified.
    #[arg(default = 10)]
    limit: i64,
) -> Result<Arrived, ToolError> {
    arrived(&fmp_income_statement { symbol, period, cik, datatype, limit })
}

/// Predicts the forest growth over the next N years based on current trends.
#[tool(category = "simple_python")]
pub async fn forest_growth_forecast(
    /// The location where you want to predict forest growth.
    location: String,
    /// The number of years for the forecast.
    years: i64,
    /// Whether or not to include the impact of human activities in the forecast. If not provided, defaults to false.
    include_human_impact: Option<bool>,
) -> Result<Arrived, ToolError> {
    arrived(&forest_growth_forecast { location, years, include_human_impact })
}

/// Find the zero points of a function.
#[tool(category = "parallel_multiple")]
pub async fn functions_zero(
    /// Function given as a string with x as the variable, e.g. 3x+2
    function: String,
) -> Result<Arrived, ToolError> {
    arrived(&functions_zero { function })
}

/// This tool belongs to the vehicle control system, which allows users to control various aspects of the car such as engine, doors, climate control, lights, and more. Tool description: Converts the gallon to liter.
#[tool(category = "multi_turn_base")]
pub async fn gallon_to_liter(
    /// The amount of gallon to convert.
    gallon: f64,
) -> Result<Arrived, ToolError> {
    arrived(&gallon_to_liter { gallon })
}

/// Search for game guides given specific conditions and preferences
#[tool(category = "parallel_multiple")]
pub async fn game_guide_api_search_guide(
    /// Name of the game.
    game: String,
    /// Specific game conditions. (eg: 'snowy weather', 'hard mode').
    #[arg(default = "")]
    condition: String,
    /// Specific type of guide. (eg: 'strategy', 'walkthrough')
    #[arg(default = "")]
    r#type: String,
) -> Result<Arrived, ToolError> {
    arrived(&game_guide_api_search_guide { game, condition, r#type })
}

/// Get a list of video games based on release year, multiplayer functionality and ESRB rating
#[tool(category = "simple_python")]
pub async fn game_list_get_games(
    /// The year the game was released.
    release_year: i64,
    /// Whether the game has multiplayer functionality.
    multiplayer: bool,
    /// The ESRB rating of the game.
    #[arg(rename = "ESRB_rating")]
    esrb_rating: String,
) -> Result<Arrived, ToolError> {
    arrived(&game_list_get_games { release_year, multiplayer, esrb_rating })
}

/// Get the winner of a specific basketball game.
#[tool(category = "multiple")]
pub async fn game_result_get_winner(
    /// List of two teams who played the game.
    teams: Vec<String>,
    /// The date of the game, formatted as YYYY-MM-DD.
    date: String,
    /// Optional: The venue of the game. Default is ''
    venue: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&game_result_get_winner { teams, date, venue })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GameSaveProgressMode {
    #[serde(rename = "easy")]
    Easy,
    #[serde(rename = "hard")]
    Hard,
}

/// Save the current state of a player's game, given the stage, level and game mode.
#[tool(category = "parallel")]
pub async fn game_save_progress(
    /// The current stage in the game the player has reached.
    stage: i64,
    /// The game mode. Available modes are easy or hard.
    mode: GameSaveProgressMode,
    /// The player's level.
    #[arg(default = "user")]
    level: String,
) -> Result<Arrived, ToolError> {
    arrived(&game_save_progress { stage, mode, level })
}

/// Retrieve scores and rankings based on player’s performance in a certain game.
#[tool(category = "parallel_multiple")]
pub async fn game_scores_get(
    /// The name of the game.
    game: String,
    /// The gaming platform e.g. Xbox, Playstation, PC
    platform: String,
    /// The level of the game for which you want to retrieve the scores.
    level: i64,
    /// The name of the player for whom you want to retrieve scores.
    #[arg(default = "")]
    player: String,
) -> Result<Arrived, ToolError> {
    arrived(&game_scores_get { game, platform, level, player })
}

/// Find reviews for a specific game.
#[tool(category = "parallel_multiple")]
pub async fn games_reviews_find(
    /// The name of the game.
    game: String,
    /// The region where the reviews are coming from (optional, default is 'global')
    region: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&games_reviews_find { game, region })
}

/// Find the latest updates or patches for a specific game on a specified gaming platform.
#[tool(category = "multiple")]
pub async fn games_update_find(
    /// The name of the game.
    game: String,
    /// The gaming platform, e.g. Xbox, Playstation, PC.
    platform: String,
    /// The region of the update (optional, default is 'global')
    region: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&games_update_find { game, platform, region })
}

/// Calculate the area of a circle given the radius.
#[tool(category = "simple_python")]
pub async fn geometry_area_circle(
    /// The radius of the circle.
    radius: i64,
    /// The units in which the radius is measured (defaults to 'meters').
    units: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&geometry_area_circle { radius, units })
}

/// Calculate the volume of a cone given the radius and height.
#[tool(category = "multiple")]
pub async fn geometry_calculate_cone_volume(
    /// Radius of the cone base.
    radius: i64,
    /// Height of the cone.
    height: i64,
    /// Number of decimal places to round off the answer. Default 0
    round_off: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&geometry_calculate_cone_volume { radius, height, round_off })
}

/// This tool belongs to the trading system, which allows users to trade stocks, manage their account, and view stock information. Tool description: Get account information.
#[tool(category = "multi_turn_base")]
pub async fn get_account_info() -> Result<Arrived, ToolError> {
    arrived(&get_account_info {})
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetActivityByParticipantsActivityType {
    #[serde(rename = "education")]
    Education,
    #[serde(rename = "recreational")]
    Recreational,
    #[serde(rename = "social")]
    Social,
    #[serde(rename = "diy")]
    Diy,
    #[serde(rename = "charity")]
    Charity,
    #[serde(rename = "cooking")]
    Cooking,
    #[serde(rename = "relaxation")]
    Relaxation,
    #[serde(rename = "music")]
    Music,
    #[serde(rename = "busywork")]
    Busywork,
}

/// Fetches a random activity suitable for the specified number of participants.
#[tool(category = "live_multiple")]
pub async fn get_activity_by_participants(
    /// The number of participants for the activity.
    participant_count: i64,
    /// The type of the activity to filter by.
    #[arg(default = "recreational")]
    activity_type: GetActivityByParticipantsActivityType,
    /// The maximum budget for the activity, where 0.0 means free and 1.0 represents no budget limit.
    #[arg(default = 0.0)]
    price: f64,
    /// Accessibility rating of the activity, from 0.0 (easily accessible) to 1.0 (less accessible).
    #[arg(default = 0.0)]
    accessibility: f64,
) -> Result<Arrived, ToolError> {
    arrived(&get_activity_by_participants { participant_count, activity_type, price, accessibility })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetAdrielListProjectsSortOrder {
    #[serde(rename = "start_date")]
    StartDate,
    #[serde(rename = "name")]
    Name,
}

/// Retrieve a list of projects that Adriel is currently involved in, including active and inactive projects.
#[tool(category = "live_multiple")]
pub async fn get_adriel_list_projects(
    /// The unique identifier of the user for whom the project list is being retrieved.
    user_id: i64,
    /// A flag to determine whether to include inactive projects in the list.
    #[arg(default = false)]
    include_inactive: bool,
    /// The order in which the list of projects is sorted. It can be either by 'start_date' or 'name'.
    #[arg(default = "name")]
    sort_order: GetAdrielListProjectsSortOrder,
) -> Result<Arrived, ToolError> {
    arrived(&get_adriel_list_projects { user_id, include_inactive, sort_order })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetAdrielListProjects2ProjectStatus {
    #[serde(rename = "active")]
    Active,
    #[serde(rename = "inactive")]
    Inactive,
    #[serde(rename = "completed")]
    Completed,
}

/// Retrieves a list of projects that Adriel is currently involved with, including project names and the roles assigned.
#[tool(category = "live_multiple")]
pub async fn get_adriel_list_projects_2(
    /// The unique identifier for the user whose projects are to be retrieved.
    user_id: i64,
    /// Flag to determine whether completed projects should be included in the list.
    #[arg(default = false)]
    include_completed: bool,
    /// Filter projects by their current status.
    #[arg(default = "active")]
    project_status: GetAdrielListProjects2ProjectStatus,
    /// Optional date filter for the project list in the format of 'YYYY-MM-DD', such as '2023-01-01'.
    date_filter: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_adriel_list_projects_2 { user_id, include_completed, project_status, date_filter })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetAdrielProfileFormat {
    #[serde(rename = "json")]
    Json,
    #[serde(rename = "xml")]
    Xml,
    #[serde(rename = "yaml")]
    Yaml,
}

/// Retrieve the detailed profile information for the user named Adriel, including personal and professional details.
#[tool(category = "live_multiple")]
pub async fn get_adriel_profile(
    /// The unique identifier for the user whose profile is being requested.
    user_id: String,
    /// A flag to determine if the contact details should be included in the profile information.
    #[arg(default = false)]
    include_contacts: bool,
    /// The desired format for the profile data.
    #[arg(default = "json")]
    format: GetAdrielProfileFormat,
) -> Result<Arrived, ToolError> {
    arrived(&get_adriel_profile { user_id, include_contacts, format })
}

/// Fetches and returns the profile information for the user named Adriel, including personal details and account settings.
#[tool(category = "live_multiple")]
pub async fn get_adriel_profile_2(
    /// The unique identifier of the user for whom the profile is being requested.
    user_id: i64,
    /// Determines if private information should be included in the profile data.
    #[arg(default = false)]
    include_private: bool,
) -> Result<Arrived, ToolError> {
    arrived(&get_adriel_profile_2 { user_id, include_private })
}

/// Retrieve the air quality index at a specified location and time.
#[tool(category = "simple_python")]
pub async fn get_air_quality_index(
    /// The location to get the air quality index for.
    location: String,
    /// The specific time to check the air quality. Default is the current time.
    time: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_air_quality_index { location, time })
}
