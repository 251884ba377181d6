// Written by `cargo run -p bfcl-gen`, do not edit.

//! From `get_available_stocks` to `get_zodiac_compatibility`.

use serde_repr::{Deserialize_repr, Serialize_repr};
use tool_core::prelude::*;

use crate::arrived::{Arrived, arrived};

/// This tool belongs to the trading system, which allows users to trade stocks, manage their account, and view stock information. Tool description: Get a list of stock symbols in the given sector.
#[tool(category = "multi_turn_base")]
pub async fn get_available_stocks(
    /// The sector to retrieve stocks from (e.g., 'Technology').
    sector: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_available_stocks { sector })
}

/// Retrieve a list of collectable items in a specific game during a specified season.
#[tool(category = "simple_python")]
pub async fn get_collectables_in_season(
    /// Name of the game.
    game_name: String,
    /// The season for which to retrieve the collectable items.
    season: String,
    /// The type of item to search for. Default is 'all'. Possible values: 'all', 'bug', 'fish', 'sea creatures', etc.
    item_type: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_collectables_in_season { game_name, season, item_type })
}

/// Retrieve the contact information for an individual based on their name or identification number. One of the parameters 'name' or 'id_no' must be provided, but not both.
#[tool(category = "live_multiple")]
pub async fn get_contact_information(
    /// The full name of the individual. Provide the name in the format 'First Last', such as 'John Doe'. Optional, but if 'id_no' is not provided, 'name' becomes required.
    name: Option<String>,
    /// The unique identification number assigned to the individual. It should be in the format 'A1234567B'. Optional, but if 'name' is not provided, 'id_no' becomes required.
    id_no: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_contact_information { name, id_no })
}

/// Convert a value from one currency to another including conversion charges.
#[tool(category = "parallel")]
pub async fn get_conversion_cost(
    /// The amount of money to be converted.
    amount: i64,
    /// The current currency of the amount.
    from_currency: String,
    /// The target currency.
    to_currency: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_conversion_cost { amount, from_currency, to_currency })
}

/// Retrieves copyright information for a given content, including the holder's name and a confidence score representing the accuracy of the information.
#[tool(category = "live_simple")]
pub async fn get_copyright_info(
    /// The specific content that is claimed to be copyrighted.
    copyright_content: String,
    /// The name of the individual or organization that holds the copyright.
    copyright_holder: String,
    /// A decimal value representing the confidence score as a percentage, ranging from 0.0 to 100.0.
    confidence_score: f64,
) -> Result<Arrived, ToolError> {
    arrived(&get_copyright_info { copyright_content, copyright_holder, confidence_score })
}

/// Retrieve the official crime rate of a city.
#[tool(category = "multiple")]
pub async fn get_crime_rate(
    /// The name of the city.
    city: String,
    /// The state where the city is located.
    state: String,
    /// Optional. The type of crime. Default ''
    r#type: Option<String>,
    /// Optional. The year for the crime rate data. Defaults to 2024.
    year: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&get_crime_rate { city, state, r#type, year })
}

/// Retrieve the current time in a specific time zone.
#[tool(category = "simple_python")]
pub async fn get_current_time(
    /// The name of the city.
    location: String,
    /// The name of the country.
    country: String,
    /// The optional timezone to get current time. Default
    timezone: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_current_time { location, country, timezone })
}

/// Returns the current local time in ISO 8601 format.
#[tool(category = "live_multiple")]
pub async fn get_current_time_2(
    /// The timezone for which the current time is requested, in the format of 'Area/Location' (e.g., 'America/New_York'). If not provided, defaults to the server's local timezone.
    #[arg(default = "local")]
    timezone: String,
    /// Determines whether the date should be included in the time string. If set to true, the date is included. Defaults to false.
    #[arg(default = false)]
    include_date: bool,
) -> Result<Arrived, ToolError> {
    arrived(&get_current_time_2 { timezone, include_date })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetCurrentWeatherUnit {
    #[serde(rename = "celsius")]
    Celsius,
    #[serde(rename = "fahrenheit")]
    Fahrenheit,
}

/// Retrieves the current weather conditions for a specified city and state. If using state, then use short form like CA.
#[tool(category = "live_simple")]
pub async fn get_current_weather(
    /// The location for which to get the weather, in the format of 'City, State', such as 'San Francisco, CA' if State for the city exists. 'City, Country' if State for the city doesn't exist.
    location: String,
    /// The unit of temperature for the weather report.
    #[arg(default = "fahrenheit")]
    unit: GetCurrentWeatherUnit,
) -> Result<Arrived, ToolError> {
    arrived(&get_current_weather { location, unit })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetCurrentWeather2Unit {
    #[serde(rename = "celsius")]
    Celsius,
    #[serde(rename = "fahrenheit")]
    Fahrenheit,
}

/// Retrieves the current weather conditions for a specified location.
#[tool(category = "live_multiple")]
pub async fn get_current_weather_2(
    /// The geographical location for the weather data, in the format of 'City, State', such as 'San Francisco, CA' or 'New York, NY'.
    location: String,
    /// The unit of temperature for the weather data.
    #[arg(default = "fahrenheit")]
    unit: GetCurrentWeather2Unit,
) -> Result<Arrived, ToolError> {
    arrived(&get_current_weather_2 { location, unit })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetCurrentWeather3Unit {
    #[serde(rename = "celsius")]
    Celsius,
    #[serde(rename = "fahrenheit")]
    Fahrenheit,
}

/// Retrieves the current weather conditions for a specified city and state.
#[tool(category = "live_parallel")]
pub async fn get_current_weather_3(
    /// The location for which to get the weather, in the format of 'City, State', such as 'San Francisco, CA' if State for the city exists. 'City, Country' if State for the city doesn't exist.
    location: String,
    /// The unit of temperature for the weather report.
    #[arg(default = "fahrenheit")]
    unit: GetCurrentWeather3Unit,
) -> Result<Arrived, ToolError> {
    arrived(&get_current_weather_3 { location, unit })
}

/// Retrieves the current weather information for a specified geographic location.
#[tool(category = "live_parallel")]
pub async fn get_current_weather_4(
    /// The geographic location for which to fetch the weather data, in the format of 'City, Country' (e.g., 'London, UK').
    location: String,
    /// The API endpoint for fetching weather data. This should be a fully qualified URL pointing to the Open-Meteo API with the appropriate query parameters for latitude and longitude.
    #[arg(default = "https://api.open-meteo.com/v1/forecast")]
    url: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_current_weather_4 { location, url })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetCurrentWeather5Unit {
    #[serde(rename = "celsius")]
    Celsius,
    #[serde(rename = "fahrenheit")]
    Fahrenheit,
}

/// Retrieves the current weather conditions for a specified location.
#[tool(category = "live_parallel_multiple")]
pub async fn get_current_weather_5(
    /// The location for which to get the weather, in the format of 'City, State (abbr)', such as 'San Francisco, CA' or 'New York, NY'. Use short form for the state.
    location: String,
    /// The unit of measurement for temperature values.
    #[arg(default = "fahrenheit")]
    unit: GetCurrentWeather5Unit,
) -> Result<Arrived, ToolError> {
    arrived(&get_current_weather_5 { location, unit })
}

/// Retrieve a collection of professional workers that match the specified criteria, such as average rating, province, and services offered.
#[tool(category = "live_simple")]
pub async fn get_data_for_professional(
    /// The average rating of the service provider's review score, ranging from 1.0 (very bad) to 5.0 (excellent) in increments of 0.5.
    #[arg(default = 3.0)]
    avg_rating: f64,
    /// The unique identifier for a province. For example, 1 represents Bangkok, 2 for Chiang Mai, 3 for Chonburi.
    province_id: i64,
    /// The name of the district in the format of 'District, Province'. If not specified, the search will include all districts within the province.
    #[arg(default = "All districts")]
    districts_name: String,
    /// The unique identifier for the type of service being offered. For example, 1 for cleaning service, 2 for ironing service, 3 for deep cleaning service.
    service_id: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&get_data_for_professional { avg_rating, province_id, districts_name, service_id })
}

/// Retrieve the defence ranking of NBA teams in a specified season.
#[tool(category = "simple_python")]
pub async fn get_defense_ranking(
    /// The NBA season to get defence ranking from.
    season: i64,
    /// Number of top teams in defence ranking to fetch.
    #[arg(default = 1)]
    top: i64,
) -> Result<Arrived, ToolError> {
    arrived(&get_defense_ranking { season, top })
}

/// Retrieves the full details of a specific project that Adriel was involved in, including project status and the role Adriel played.
#[tool(category = "live_multiple")]
pub async fn get_detail_adriel_project(
    /// The exact name of the project to fetch details for.
    project_name: String,
    /// Determines whether to include financial information such as budget and expenses in the project details.
    #[arg(default = false)]
    include_financials: bool,
    /// The format for any date fields in the project details, such as 'MM/DD/YYYY'.
    #[arg(default = "YYYY-MM-DD")]
    date_format: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_detail_adriel_project { project_name, include_financials, date_format })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetDirectionsRouteType {
    #[serde(rename = "fastest")]
    Fastest,
    #[serde(rename = "scenic")]
    Scenic,
}

/// Retrieve directions from one location to another.
#[tool(category = "simple_python")]
pub async fn get_directions(
    /// The starting point of the journey.
    start_location: String,
    /// The destination point of the journey.
    end_location: String,
    /// Type of route to use (e.g., 'fastest', 'scenic'). Default is 'fastest'.
    route_type: Option<GetDirectionsRouteType>,
) -> Result<Arrived, ToolError> {
    arrived(&get_directions { start_location, end_location, route_type })
}

/// This function determines the most suitable directory to watch for file changes based on a given directory path, especially handling paths within 'node_modules' by selecting the top-most 'node_modules' directory or an ancestor directory.
#[tool(category = "simple_javascript", allow(tool-name-client))]
pub async fn get_directory_to_watch_from_failed_lookup_location_directory(
    /// The initial directory to consider for watching.
    dir: String,
    /// The full path of the directory to consider for watching.
    #[arg(rename = "dirPath")]
    dir_path: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_directory_to_watch_from_failed_lookup_location_directory { dir, dir_path })
}

/// Retrieve the date of a historical event.
#[tool(category = "simple_python")]
pub async fn get_event_date(
    /// The name of the historical event.
    event: String,
    /// Location where the event took place. Default to global if not specified.
    location: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_event_date { event, location })
}

/// Retrieve the exchange rate between two currencies including transaction fee.
#[tool(category = "simple_python")]
pub async fn get_exchange_rate_with_fee(
    /// The base currency.
    base_currency: String,
    /// The target currency.
    target_currency: String,
    /// The transaction fee in percentage. Default is 0%.
    fee: f64,
) -> Result<Arrived, ToolError> {
    arrived(&get_exchange_rate_with_fee { base_currency, target_currency, fee })
}

/// Retrieves the count of hosts monitored by the system for a given month and year.
#[tool(category = "live_multiple")]
pub async fn get_hosts_per_month(
    /// The month for which the host count is requested, represented as an integer from 1 (January) to 12 (December).
    month: i64,
    /// The year for which the host count is requested, represented as a four-digit number, such as 2021.
    year: i64,
) -> Result<Arrived, ToolError> {
    arrived(&get_hosts_per_month { month, year })
}

/// Retrieve a list of items that are analyzed for copyright detection purposes.
#[tool(category = "live_simple")]
pub async fn get_items(
    /// A list of item descriptors to be analyzed, such as 'yellow logo', 'signature tune', 'unique font'.
    items: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_items { items })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetLawsuitDetailsAdditionalDetails {
    #[serde(rename = "attorneys")]
    Attorneys,
    #[serde(rename = "plaintiffs")]
    Plaintiffs,
    #[serde(rename = "defendants")]
    Defendants,
    #[serde(rename = "charges")]
    Charges,
    #[serde(rename = "court_updates")]
    CourtUpdates,
}

/// Retrieve the detailed information about a lawsuit based on its case number and the court location.
#[tool(category = "simple_python")]
pub async fn get_lawsuit_details(
    /// The case number of the lawsuit.
    case_number: String,
    /// The location of the court where the case is filed.
    court_location: String,
    /// Optional. Array containing additional details to be fetched. Default is all.
    additional_details: Option<Vec<GetLawsuitDetailsAdditionalDetails>>,
) -> Result<Arrived, ToolError> {
    arrived(&get_lawsuit_details { case_number, court_location, additional_details })
}

/// Retrieve the current price for a specified metal and measure.
#[tool(category = "simple_python")]
pub async fn get_metal_price(
    /// The metal whose price needs to be fetched.
    metal: String,
    /// The measure unit for price, like 'ounce' or 'kg'.
    measure: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_metal_price { metal, measure })
}

/// This tool belongs to the travel system, which allows users to book flights, manage credit cards, and view budget information. Tool description: Get the nearest airport to the given location
#[tool(category = "multi_turn_base")]
pub async fn get_nearest_airport_by_city(
    /// The name of the location. [Enum]: Rivermist, Stonebrook, Maplecrest, Silverpine, Shadowridge, London, Paris, Sunset Valley, Oakendale, Willowbend, Crescent Hollow, Autumnville, Pinehaven, Greenfield, San Francisco, Los Angeles, New York, Chicago, Boston, Beijing, Hong Kong, Rome, Tokyo
    location: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_nearest_airport_by_city { location })
}

/// Fetches the latest news on a specific topic.
#[tool(category = "simple_python")]
pub async fn get_news(
    /// The subject for the news topic.
    topic: String,
    /// Number of articles to fetch.
    quantity: i64,
    /// The geographical region for the news. Default is 'US'.
    region: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_news { topic, quantity, region })
}

/// This tool belongs to the trading system, which allows users to trade stocks, manage their account, and view stock information. Tool description: Get the details of an order.
#[tool(category = "multi_turn_base")]
pub async fn get_order_details(
    /// ID of the order.
    order_id: i64,
) -> Result<Arrived, ToolError> {
    arrived(&get_order_details { order_id })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetPersonalityTraitsTraits {
    #[serde(rename = "strengths")]
    Strengths,
    #[serde(rename = "weaknesses")]
    Weaknesses,
}

/// Retrieve the personality traits for a specific personality type, including their strengths and weaknesses.
#[tool(category = "parallel_multiple")]
pub async fn get_personality_traits(
    /// The personality type.
    r#type: String,
    /// List of traits to be retrieved, default is ['strengths', 'weaknesses'].
    traits: Option<Vec<GetPersonalityTraitsTraits>>,
) -> Result<Arrived, ToolError> {
    arrived(&get_personality_traits { r#type, traits })
}

/// Get specific property of the rectangle (like length, width) based on perimeter and area.
#[tool(category = "parallel_multiple")]
pub async fn get_rectangle_property(
    /// Perimeter of the rectangle.
    perimeter: i64,
    /// Area of the rectangle.
    area: i64,
    /// Specific property required. It can be length, width or diagonal.
    property: String,
    /// Allowed error for calculations. (optional) Default 0.1
    tolerance: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&get_rectangle_property { perimeter, area, property, tolerance })
}

/// Retrieves a list of class names from the repository that potentially match the provided search criteria. This function is particularly useful when searching for utility classes or classes related to a specific functionality.
#[tool(category = "live_parallel_multiple")]
pub async fn get_relevant_classes(
    /// The keyword or phrase used to filter relevant classes in the repository.
    search_string: String,
    /// Determines if the search should be case sensitive. By default, the search is not case sensitive.
    #[arg(default = false)]
    case_sensitive: bool,
    /// Indicates whether to include subdirectories in the search. Defaults to false to search only at the root level.
    #[arg(default = false)]
    include_subdirectories: bool,
) -> Result<Arrived, ToolError> {
    arrived(&get_relevant_classes { search_string, case_sensitive, include_subdirectories })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetSensorAlertsTriggerMetric {
    #[serde(rename = "apparentPower")]
    ApparentPower,
    #[serde(rename = "co2")]
    Co2,
    #[serde(rename = "current")]
    Current,
    #[serde(rename = "door")]
    Door,
    #[serde(rename = "frequency")]
    Frequency,
    #[serde(rename = "humidity")]
    Humidity,
    #[serde(rename = "indoorAirQuality")]
    IndoorAirQuality,
    #[serde(rename = "noise")]
    Noise,
    #[serde(rename = "pm25")]
    Pm25,
    #[serde(rename = "powerFactor")]
    PowerFactor,
    #[serde(rename = "realPower")]
    RealPower,
    #[serde(rename = "temperature")]
    Temperature,
    #[serde(rename = "tvoc")]
    Tvoc,
    #[serde(rename = "upstreamPower")]
    UpstreamPower,
    #[serde(rename = "voltage")]
    Voltage,
    #[serde(rename = "water")]
    Water,
}

/// Retrieve a paginated list of sensor alerts within a specified timespan and optionally filtered by various criteria such as network IDs or sensor metrics.
#[tool(category = "live_multiple")]
pub async fn get_sensor_alerts(
    /// The number of entries per page returned. Acceptable range is 3 - 100.
    #[arg(rename = "perPage")]
    per_page: i64,
    /// A server-generated token indicating the start of the page, such as a timestamp or an ID.
    #[arg(rename = "startingAfter")]
    starting_after: Option<String>,
    /// A server-generated token indicating the end of the page, such as a timestamp or an ID.
    #[arg(rename = "endingBefore")]
    ending_before: Option<String>,
    /// The start of the timespan for the data, formatted as an ISO 8601 timestamp (e.g., '2023-01-01T00:00:00Z'). The maximum lookback period is 365 days from today.
    t0: Option<String>,
    /// The end of the timespan for the data, formatted as an ISO 8601 timestamp (e.g., '2023-12-31T23:59:59Z'). t1 can be a maximum of 365 days after t0.
    t1: Option<String>,
    /// A list of network IDs to filter the returned data.
    #[arg(rename = "networkId", default = [])]
    network_id: Vec<String>,
    /// The timespan for which the information will be fetched in seconds. Do not specify if t0 and t1 are provided. Must be less than or equal to 31,536,000 seconds (365 days).
    #[arg(default = 31536000)]
    timespan: i64,
    /// The sensor serial number to filter the returned data.
    #[arg(rename = "sensorSerial")]
    sensor_serial: Option<String>,
    /// Filter alerts triggered by a specific metric.
    #[arg(rename = "triggerMetric")]
    trigger_metric: Option<GetSensorAlertsTriggerMetric>,
) -> Result<Arrived, ToolError> {
    arrived(&get_sensor_alerts { per_page, starting_after, ending_before, t0, t1, network_id, timespan, sensor_serial, trigger_metric })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize_repr, Deserialize_repr, StrictSchema)]
#[schema(integer)]
#[repr(i64)]
pub enum GetServiceIdServiceId {
    N1 = 1,
    N2 = 2,
}

/// Retrieve the unique identifier for a specific service type, such as cleaning or ironing services.
#[tool(category = "live_simple")]
pub async fn get_service_id(
    /// The unique identifier of the service. For example, '1' represents cleaning service, and '2' represents ironing service.
    service_id: GetServiceIdServiceId,
    /// The unit of measurement for the quantity of service, expressed as the number of service sessions or instances.
    #[arg(default = 1)]
    unit: i64,
) -> Result<Arrived, ToolError> {
    arrived(&get_service_id { service_id, unit })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize_repr, Deserialize_repr, StrictSchema)]
#[schema(integer)]
#[repr(i64)]
pub enum GetServiceProvidersProvinceId {
    N1 = 1,
    N2 = 2,
    N3 = 3,
    N4 = 4,
    N5 = 5,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize_repr, Deserialize_repr, StrictSchema)]
#[schema(integer)]
#[repr(i64)]
pub enum GetServiceProvidersServiceId {
    N1 = 1,
    N2 = 2,
    N3 = 3,
    N13 = 13,
    N39 = 39,
    N15 = 15,
    N35 = 35,
    N24 = 24,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize_repr, Deserialize_repr, StrictSchema)]
#[schema(integer)]
#[repr(i64)]
pub enum GetServiceProvidersProfessionalGroupId {
    N1 = 1,
    N2 = 2,
    N3 = 3,
}

/// Find service providers based on various criteria such as rating, location, availability, and service types offered.
#[tool(category = "live_multiple", allow(limit-optional))]
pub async fn get_service_providers(
    /// The average review rating of the service provider on a scale of 1 to 5 stars. Use 'null' for unrated.
    avg_rating: Option<f64>,
    /// ID of the province where the service provider is located. Example: 1 for Bangkok, 2 for Chiang Mai.
    province_id: Option<GetServiceProvidersProvinceId>,
    /// The name of the district where the service provider is located, or 'null' if not specified.
    district_name: Option<String>,
    /// The name of the sub-district where the service provider is located, or 'null' if not specified.
    sub_district_name: Option<String>,
    /// The start of the availability period for the service provider in the format 'YYYY-MM-DD HH:mm:ss', or 'null' for immediate availability.
    start_available_date: Option<String>,
    /// The end of the availability period for the service provider in the format 'YYYY-MM-DD HH:mm:ss', or 'null' if open-ended.
    end_available_date: Option<String>,
    /// The minimum age of the service provider, or 'null' if no preference.
    min_age: Option<i64>,
    /// The maximum age of the service provider, or 'null' if no preference.
    max_age: Option<i64>,
    /// Indicates whether the service provider has a record of quality problems (false for no record, true for having a record).
    #[arg(default = false)]
    has_quality_problem: bool,
    /// Indicates whether the service provider has a record of late check-ins (false for no record, true for having a record).
    #[arg(default = false)]
    has_late_check_in: bool,
    /// Indicates whether the service provider has a record of excellence (false for no record, true for having a record).
    #[arg(default = false)]
    is_excellent: bool,
    /// Indicates whether the job is a packaged offer (false for individual services, true for a package).
    #[arg(default = false)]
    is_package: bool,
    /// Indicates whether the job is subscription-based (false for one-time services, true for subscription).
    #[arg(default = false)]
    is_subscription: bool,
    /// ID of the service being offered by the provider. Example: 1 for cleaning service, 2 for ironing service.
    service_id: Option<GetServiceProvidersServiceId>,
    /// Indicates whether the service provider is available for households with pets (false for no, true for yes).
    #[arg(default = false)]
    available_for_pet: bool,
    /// ID of the professional group to which the service provider belongs. Example: 1 for Group A, 2 for Group B.
    professional_group_id: Option<GetServiceProvidersProfessionalGroupId>,
    /// The number of jobs the service provider has received, or 'null' if not applicable.
    job_qty: Option<i64>,
    /// Indicates whether the service provider offers condo cleaning services (false for no, true for yes).
    #[arg(default = false)]
    is_cleaning_condo: bool,
    /// Indicates whether the service provider offers home cleaning services (false for no, true for yes).
    #[arg(default = false)]
    is_cleaning_home: bool,
    /// Indicates whether the service provider offers office or workplace cleaning services (false for no, true for yes).
    #[arg(default = false)]
    is_cleaning_office: bool,
) -> Result<Arrived, ToolError> {
    arrived(&get_service_providers { avg_rating, province_id, district_name, sub_district_name, start_available_date, end_available_date, min_age, max_age, has_quality_problem, has_late_check_in, is_excellent, is_package, is_subscription, service_id, available_for_pet, professional_group_id, job_qty, is_cleaning_condo, is_cleaning_home, is_cleaning_office })
}

/// Retrieve a list of service providers based on the given filters.
#[tool(category = "live_multiple", allow(limit-optional))]
pub async fn get_service_providers_2(
    /// The average review rating score, with a higher score indicating better reviews. A default value of 'null' represents no rating data available.
    avg_rating: Option<f64>,
    /// The unique identifier of the province, such as 1 for Bangkok, 2 for Chiang Mai, and 3 for Phuket.
    province_id: i64,
    /// The name of the district. For example, 'Chatuchak District', 'Bang Sue District', or 'Phaya Thai District'. A default value of 'null' represents no specific district.
    district_name: Option<String>,
    /// The start date and time of the availability period for the service provider, in the format 'YYYY-MM-DD HH:mm:ss'. A default value of 'null' represents an open start date.
    start_available_date: Option<String>,
    /// The end date and time of the availability period for the service provider, in the format 'YYYY-MM-DD HH:mm:ss'. A default value of 'null' represents an open end date.
    end_available_date: Option<String>,
    /// The minimum age requirement for the service provider. A default value of 'null' indicates no minimum age requirement.
    min_age: Option<i64>,
    /// The maximum age limit for the service provider. A default value of 'null' indicates no maximum age limit.
    max_age: Option<i64>,
    /// Flag indicating whether the service provider has a record of quality problems. 'false' means no record; 'true' indicates quality issues have been recorded.
    #[arg(default = false)]
    has_quality_problem: bool,
    /// Flag indicating whether the service provider has a record of late check-ins. 'false' means no record; 'true' indicates there have been late check-ins.
    #[arg(default = false)]
    has_late_check_in: bool,
    /// Flag indicating whether the service provider has been marked as excellent. 'false' means not marked as excellent; 'true' means they are recognized as excellent.
    #[arg(default = false)]
    is_excellent: bool,
    /// Flag indicating if the work is offered as a package deal. 'false' means it is not a package; 'true' means it is a package.
    #[arg(default = false)]
    is_package: bool,
    /// Flag indicating if the work is subscription-based. 'false' means not subscription-based; 'true' means it is offered on a subscription basis.
    #[arg(default = false)]
    is_subscription: bool,
    /// The unique identifier representing the type of service offered. For instance, 1 for cleaning service, 3 for massage, 24 for disinfectant cleaning.
    service_id: Option<i64>,
    /// The unique identifier for an additional service offered. For example, 2 for ironing service.
    extra_service_id: Option<i64>,
    /// Flag indicating whether the service provider is available for households with pets. 'false' means not available for pets; 'true' means they are.
    #[arg(default = false)]
    available_for_pet: bool,
    /// The unique identifier of the professional group the service provider belongs to. For example, 1 for Group A, 2 for Group B.
    professional_group_id: Option<i64>,
    /// The number of jobs the service provider has completed. A default value of 'null' indicates no job history available.
    job_qty: Option<i64>,
    /// Flag indicating whether the service provider offers condo cleaning services. 'false' means they do not offer such services; 'true' means they do.
    #[arg(default = false)]
    is_cleaning_condo: bool,
    /// Flag indicating whether the service provider offers home cleaning services. 'false' means they do not offer such services; 'true' means they do.
    #[arg(default = false)]
    is_cleaning_home: bool,
    /// Flag indicating whether the service provider offers office cleaning services. 'false' means they do not offer such services; 'true' means they do.
    #[arg(default = false)]
    is_cleaning_office: bool,
) -> Result<Arrived, ToolError> {
    arrived(&get_service_providers_2 { avg_rating, province_id, district_name, start_available_date, end_available_date, min_age, max_age, has_quality_problem, has_late_check_in, is_excellent, is_package, is_subscription, service_id, extra_service_id, available_for_pet, professional_group_id, job_qty, is_cleaning_condo, is_cleaning_home, is_cleaning_office })
}

/// Retrieves a list of all services available in the specified namespace of the system.
#[tool(category = "live_multiple")]
pub async fn get_services(
    /// The namespace identifier from which services are to be fetched.
    namespace: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_services { namespace })
}

/// Calculate the shortest driving distance between two locations.
#[tool(category = "simple_python")]
pub async fn get_shortest_driving_distance(
    /// Starting point of the journey. You should format it as city name like Boston.
    origin: String,
    /// End point of the journey. You should format it as city name like Boston.
    destination: String,
    /// Preferred unit of distance (optional, default is 'km').
    unit: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_shortest_driving_distance { origin, destination, unit })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetSnowReportUnit {
    #[serde(rename = "celsius")]
    Celsius,
    #[serde(rename = "fahrenheit")]
    Fahrenheit,
}

/// Retrieves the latest snow report for a specified location, providing details about the snow conditions and weather.
#[tool(category = "live_parallel")]
pub async fn get_snow_report(
    /// The location for which to get the snow report, in the format of 'City, State' or 'City, Country', such as 'Aspen, CO' or 'Paris, France'.
    location: String,
    /// The temperature unit to be used in the snow report.
    #[arg(default = "fahrenheit")]
    unit: GetSnowReportUnit,
) -> Result<Arrived, ToolError> {
    arrived(&get_snow_report { location, unit })
}

/// Retrieves information about a specific stock based on company's name.
#[tool(category = "simple_python")]
pub async fn get_stock_info(
    /// The name of the company.
    company_name: String,
    /// Level of detail for stock information. Can be 'summary' or 'detailed'.
    detail_level: String,
    /// The stock market of interest. Default is 'NASDAQ'
    market: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_stock_info { company_name, detail_level, market })
}

/// Get the closing stock price for a specific company on a specified date.
#[tool(category = "simple_python")]
pub async fn get_stock_price(
    /// Name of the company.
    company_name: String,
    /// Date of when to get the stock price. Format: yyyy-mm-dd.
    date: String,
    /// Name of the stock exchange market where the company's stock is listed. Default is 'NASDAQ'
    exchange: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_stock_price { company_name, date, exchange })
}

/// Retrieves the current stock price of the specified companies
#[tool(category = "simple_python")]
pub async fn get_stock_price_2(
    /// The list of companies for which to retrieve the stock price.
    company_names: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_stock_price_2 { company_names })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetSyntheticLocationsSort {
    #[serde(rename = "asc")]
    Asc,
    #[serde(rename = "desc")]
    Desc,
}

/// Retrieve a list of all synthetic monitoring locations available for configuring synthetic tests.
#[tool(category = "live_multiple")]
pub async fn get_synthetic_locations(
    /// Sort order of the locations. Specify 'asc' for ascending or 'desc' for descending.
    #[arg(default = "asc")]
    sort: GetSyntheticLocationsSort,
    /// The number of locations to skip before starting to collect the result set. Begins at 0.
    #[arg(default = 0)]
    offset: i64,
    /// The maximum number of locations to return in the response. Must be an integer greater than 0.
    limit: i64,
    /// A filter string to receive specific locations based on matching criteria, such as 'North America'. The filter is applied to the location's name or attributes.
    #[arg(default = "")]
    filter: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_synthetic_locations { sort, offset, limit, filter })
}

/// Retrieve the list of movie releases in specific theaters for a specified period. in the format of city shorten name like SF.
#[tool(category = "simple_python")]
pub async fn get_theater_movie_releases(
    /// The location of the theaters.
    location: String,
    /// The number of days for which releases are required from current date.
    timeframe: i64,
    /// Format of movies - could be 'IMAX', '2D', '3D', '4DX' etc. Default is 'all'
    format: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&get_theater_movie_releases { location, timeframe, format })
}

/// Retrieve the list of movie releases in specific theaters for a specified period.
#[tool(category = "parallel")]
pub async fn get_theater_movie_releases_2(
    /// The location of the theaters.
    location: String,
    /// The number of days for which releases are required from current date.
    timeframe: i64,
    /// Format of movies - could be 'IMAX', '2D', '3D', '4DX' etc. This is an optional parameter.
    #[arg(default = "IMAX")]
    format: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_theater_movie_releases_2 { location, timeframe, format })
}

/// Retrieve a list of support tickets for a specified company.
#[tool(category = "live_multiple")]
pub async fn get_tickets(
    /// The name of the company for which to retrieve support tickets.
    customer: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_tickets { customer })
}

/// Retrieve the list of support tickets for a specified company, optionally filtered by priority level.
#[tool(category = "live_multiple")]
pub async fn get_tickets_2(
    /// The name of the company for which to retrieve support tickets.
    customer: String,
    /// The priority level of the tickets, represented as an integer from 1 (highest priority) to 8 (lowest priority).
    #[arg(default = 5)]
    priority: i64,
) -> Result<Arrived, ToolError> {
    arrived(&get_tickets_2 { customer, priority })
}

/// This tool belongs to the Message API, which is used to manage user interactions in a workspace. Tool description: Get user ID from user name.
#[tool(category = "multi_turn_base")]
pub async fn get_user_id(
    /// User name of the user.
    user: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_user_id { user })
}

/// Retrieve details for a specific user by their unique identifier.
#[tool(category = "live_simple")]
pub async fn get_user_info(
    /// The unique identifier of the user. It is used to fetch the specific user details from the database.
    user_id: i64,
    /// Any special information or parameters that need to be considered while fetching user details.
    #[arg(default = "none")]
    special: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_user_info { user_id, special })
}

/// Retrieves current weather data for the specified city using its geographical coordinates.
#[tool(category = "live_simple")]
pub async fn get_weather_by_coordinates(
    /// The name of the city, such as 'New York, NY'.
    city: String,
    /// The latitude of the city in decimal degrees.
    lat: f64,
    /// The longitude of the city in decimal degrees.
    lon: f64,
) -> Result<Arrived, ToolError> {
    arrived(&get_weather_by_coordinates { city, lat, lon })
}

/// This tool belongs to the vehicle control system, which allows users to control various aspects of the car such as engine, doors, climate control, lights, and more. Tool description: Gets the zipcode based on the city.
#[tool(category = "multi_turn_base")]
pub async fn get_zipcode_based_on_city(
    /// The name of the city.
    city: String,
) -> Result<Arrived, ToolError> {
    arrived(&get_zipcode_based_on_city { city })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum GetZodiacCompatibilityScale {
    #[serde(rename = "percentage")]
    Percentage,
    #[serde(rename = "0-10 scale")]
    V010Scale,
}

/// Retrieve the compatibility score between two Zodiac signs.
#[tool(category = "simple_python")]
pub async fn get_zodiac_compatibility(
    /// The first Zodiac sign.
    sign1: String,
    /// The second Zodiac sign.
    sign2: String,
    /// The scale on which compatibility should be shown. Default is 'percentage'.
    scale: Option<GetZodiacCompatibilityScale>,
) -> Result<Arrived, ToolError> {
    arrived(&get_zodiac_compatibility { sign1, sign2, scale })
}
