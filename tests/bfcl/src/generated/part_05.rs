// Written by `cargo run -p bfcl-gen`, do not edit.

//! From `grocery_store_find_best` to `math_factorial`.

use tool_core::prelude::*;

use crate::arrived::{Arrived, arrived};

/// Find the closest high-rated grocery stores based on certain product availability.
#[tool(category = "parallel_multiple")]
pub async fn grocery_store_find_best(
    /// The current location of the user.
    my_location: String,
    /// The minimum required store rating. Default is 5.0.
    rating: Option<f64>,
    /// Required products in a list.
    products: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&grocery_store_find_best { my_location, rating, products })
}

/// Check hotel availability for a specific location and time frame.
#[tool(category = "simple_python")]
pub async fn hilton_hotel_check_availability(
    /// The city where you want to check hotel availability.
    location: String,
    /// The check-in date in the format YYYY-MM-DD.
    check_in_date: String,
    /// The check-out date in the format YYYY-MM-DD.
    check_out_date: String,
    /// The number of adults for the hotel booking.
    no_of_adults: i64,
    /// The hotel chain where you want to book the hotel.
    #[arg(default = "Hilton")]
    hotel_chain: String,
) -> Result<Arrived, ToolError> {
    arrived(&hilton_hotel_check_availability { location, check_in_date, check_out_date, no_of_adults, hotel_chain })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum HistoryEuFetchEventsRegion {
    Northern,
    Southern,
    Eastern,
    Western,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum HistoryEuFetchEventsCategory {
    Wars,
    Culture,
    Politics,
    Scientific,
    Others,
}

/// Fetches significant historical events within a specific time period in European history.
#[tool(category = "simple_python")]
pub async fn history_eu_fetch_events(
    /// The century you are interested in.
    century: i64,
    /// The region of Europe you are interested in.
    region: HistoryEuFetchEventsRegion,
    /// Category of the historical events. Default is 'Culture'.
    category: Option<HistoryEuFetchEventsCategory>,
) -> Result<Arrived, ToolError> {
    arrived(&history_eu_fetch_events { century, region, category })
}

/// Retrieve facts about historical events or documents
#[tool(category = "parallel")]
pub async fn history_fact_fetch(
    /// The historical event or document you want to know about.
    event: String,
    /// The depth of information required. Choices are 'brief' or 'detailed'.
    #[arg(default = "detailed")]
    depth: String,
    /// The year of the event/document. default is 0
    year: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&history_fact_fetch { event, depth, year })
}

/// Retrieve array of important figures involved during a specific historical event.
#[tool(category = "parallel_multiple")]
pub async fn history_get_important_figures(
    /// The historical event for which you want the array of important figures.
    event: String,
    /// Number of top figures you want. Default to 1
    #[arg(default = 1)]
    number: i64,
) -> Result<Arrived, ToolError> {
    arrived(&history_get_important_figures { event, number })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Homes2FindHomeByAreaIntent {
    #[serde(rename = "rent")]
    Rent,
    #[serde(rename = "buy")]
    Buy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Homes2FindHomeByAreaInUnitLaundry {
    True,
    False,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Search for properties to rent or buy in a specified city, with filters for the number of bedrooms and bathrooms, as well as the presence of a garage and in-unit laundry facilities.
#[tool(category = "live_multiple")]
pub async fn homes_2_find_home_by_area(
    /// The city where the search for properties is conducted, in the format of 'City, State' with state in abbreviated format (e.g., 'Los Angeles, CA').
    area: String,
    /// The intention behind the property search, either to rent or to buy.
    intent: Homes2FindHomeByAreaIntent,
    /// The number of bedrooms required in the property.
    number_of_beds: i64,
    /// The number of bathrooms required in the property.
    number_of_baths: i64,
    /// Specifies if the property must have a garage.
    #[arg(default = false)]
    has_garage: bool,
    /// Specifies if the property must have in-unit laundry facilities. The default is 'dontcare', which includes properties regardless of laundry facilities.
    #[arg(default = "dontcare")]
    in_unit_laundry: Homes2FindHomeByAreaInUnitLaundry,
) -> Result<Arrived, ToolError> {
    arrived(&homes_2_find_home_by_area { area, intent, number_of_beds, number_of_baths, has_garage, in_unit_laundry })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Homes2FindHomeByArea2Intent {
    #[serde(rename = "rent")]
    Rent,
    #[serde(rename = "buy")]
    Buy,
}

/// Search for a property to rent or buy in a specified city, filtering by the number of bedrooms and bathrooms, garage availability, and in-unit laundry facilities.
#[tool(category = "live_multiple")]
pub async fn homes_2_find_home_by_area_2(
    /// The city where the property is located, in the format of 'City, State' (e.g., 'Berkeley, CA' or 'New York, NY').
    area: String,
    /// The intent to either rent or buy the property.
    intent: Homes2FindHomeByArea2Intent,
    /// The number of bedrooms in the property.
    number_of_beds: i64,
    /// The number of bathrooms in the property.
    number_of_baths: i64,
    /// Indicates whether the property includes a garage. The default is 'dontcare' which includes properties regardless of garage availability.
    has_garage: Option<bool>,
    /// Indicates whether the property has in-unit laundry facilities. The default is 'dontcare' which includes properties regardless of in-unit laundry facilities.
    in_unit_laundry: Option<bool>,
) -> Result<Arrived, ToolError> {
    arrived(&homes_2_find_home_by_area_2 { area, intent, number_of_beds, number_of_baths, has_garage, in_unit_laundry })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum HotelBookingPreferences {
    #[serde(rename = "pet_friendly")]
    PetFriendly,
    #[serde(rename = "gym")]
    Gym,
    #[serde(rename = "swimming_pool")]
    SwimmingPool,
    #[serde(rename = "free_breakfast")]
    FreeBreakfast,
    #[serde(rename = "parking")]
    Parking,
}

/// Books a hotel room given the location, room type, stay duration and any additional preferences.
#[tool(category = "simple_python")]
pub async fn hotel_booking(
    /// The city where you want to book the hotel.
    location: String,
    /// Type of the room required. Options: 'single', 'double', 'deluxe', etc.
    room_type: String,
    /// The number of nights you want to book the hotel for.
    duration: i64,
    /// The date when your stay begins.
    start_date: String,
    /// Optional preferences of stay at the hotel. Default to use all if not specified.
    preferences: Option<Vec<HotelBookingPreferences>>,
) -> Result<Arrived, ToolError> {
    arrived(&hotel_booking { location, room_type, duration, start_date, preferences })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum HotelBooking2Preferences {
    #[serde(rename = "pet_friendly")]
    PetFriendly,
    #[serde(rename = "gym")]
    Gym,
    #[serde(rename = "swimming_pool")]
    SwimmingPool,
    #[serde(rename = "free_breakfast")]
    FreeBreakfast,
    #[serde(rename = "parking")]
    Parking,
}

/// Books a hotel room given the location, room type, stay duration and any additional preferences.
#[tool(category = "parallel_multiple")]
pub async fn hotel_booking_2(
    /// The city where you want to book the hotel.
    location: String,
    /// Type of the room required. Options: 'single', 'double', 'deluxe', etc.
    room_type: String,
    /// The number of nights you want to book the hotel for.
    duration: i64,
    /// The date when your stay begins.
    start_date: String,
    /// Optional preferences of stay at the hotel. Default is all if not specified.
    preferences: Option<Vec<HotelBooking2Preferences>>,
) -> Result<Arrived, ToolError> {
    arrived(&hotel_booking_2 { location, room_type, duration, start_date, preferences })
}

/// Book a hotel room given the city, date, and the number of adults and children.
#[tool(category = "simple_python")]
pub async fn hotel_booking_book(
    /// The city where the hotel is located.
    city: String,
    /// The start date of the booking. The format is MM-DD-YYYY.
    from_date: String,
    /// The end date of the booking. The format is MM-DD-YYYY.
    to_date: String,
    /// The number of adults for the booking.
    adults: i64,
    /// The number of children for the booking.
    children: i64,
    /// The type of the room, default is 'Standard'. Options are 'Standard', 'Deluxe', 'Suite'.
    #[arg(default = "Standard")]
    room_type: String,
) -> Result<Arrived, ToolError> {
    arrived(&hotel_booking_book { city, from_date, to_date, adults, children, room_type })
}

/// Book a hotel room at the specified location for the specified number of adults and children, ensuring the accommodation dates are available.
#[tool(category = "live_parallel")]
pub async fn hotel_booking_book_2(
    /// The name of the hotel to book.
    hotel_name: String,
    /// The location of the hotel, in the format of 'City, State', such as 'San Francisco, CA' or 'New York, NY'.
    location: String,
    /// The check-in date for the booking, in the format 'YYYY-MM-DD'.
    check_in: String,
    /// The check-out date for the booking, in the format 'YYYY-MM-DD'.
    check_out: String,
    /// The number of adults included in the booking.
    adults: i64,
    /// The number of children included in the booking.
    children: i64,
) -> Result<Arrived, ToolError> {
    arrived(&hotel_booking_book_2 { hotel_name, location, check_in, check_out, adults, children })
}

/// Check room availability for a particular hotel for given dates.
#[tool(category = "parallel")]
pub async fn hotel_booking_check_availability(
    /// The name of the hotel.
    hotel_name: String,
    /// The location of the hotel.
    location: String,
    /// The check-in date in YYYY-MM-DD format.
    check_in_date: String,
    /// The check-out date in YYYY-MM-DD format.
    check_out_date: String,
) -> Result<Arrived, ToolError> {
    arrived(&hotel_booking_check_availability { hotel_name, location, check_in_date, check_out_date })
}

/// Book a hotel room based on specific criteria like location, room type, and check-in and check-out dates.
#[tool(category = "simple_python")]
pub async fn hotel_bookings_book_room(
    /// The city and state where you want to book the hotel, e.g. Los Angeles, CA
    location: String,
    /// Preferred type of room in the hotel, e.g. king size, queen size, deluxe, suite etc.
    room_type: String,
    /// Check-in date for the hotel. Format - DD-MM-YYYY.
    check_in_date: String,
    /// Number of nights for the stay.
    no_of_nights: i64,
    /// Number of rooms to book. Default is 1.
    #[arg(default = 1)]
    no_of_rooms: i64,
) -> Result<Arrived, ToolError> {
    arrived(&hotel_bookings_book_room { location, room_type, check_in_date, no_of_nights, no_of_rooms })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Hotels4SearchHotelStarRating {
    #[serde(rename = "1")]
    V1,
    #[serde(rename = "2")]
    V2,
    #[serde(rename = "3")]
    V3,
    #[serde(rename = "4")]
    V4,
    #[serde(rename = "5")]
    V5,
    #[serde(rename = "dontcare")]
    Dontcare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Hotels4SearchHotelNumberOfRooms {
    #[serde(rename = "1")]
    V1,
    #[serde(rename = "2")]
    V2,
    #[serde(rename = "3")]
    V3,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Search for hotels based on specified criteria in a desired location.
#[tool(category = "live_multiple")]
pub async fn hotels_4_search_hotel(
    /// The city or town where the hotel is located, in the format of 'City, State' or 'City, Country' if the city does not locate in the United States; for example, 'New York, NY' or 'Paris, FR'.
    location: String,
    /// The star rating of the hotel (1 to 5 stars). Select 'dontcare' if no specific star rating is required.
    #[arg(default = "dontcare")]
    star_rating: Hotels4SearchHotelStarRating,
    /// Indicates whether smoking is allowed in the hotel. Select 'true' for smoking rooms, 'false' for non-smoking rooms.
    #[arg(default = false)]
    smoking_allowed: bool,
    /// The number of hotel rooms to reserve. Can be an integer (as a string) or 'dontcare' if there is no specific requirement for the number of rooms.
    #[arg(default = "dontcare")]
    number_of_rooms: Hotels4SearchHotelNumberOfRooms,
) -> Result<Arrived, ToolError> {
    arrived(&hotels_4_search_hotel { location, star_rating, smoking_allowed, number_of_rooms })
}

/// Design a house based on specific criteria
#[tool(category = "parallel_multiple")]
pub async fn house_designer_design(
    /// Number of bedrooms desired.
    bedrooms: i64,
    /// Number of bathrooms needed.
    bathrooms: i64,
    /// Does the house need a garden? Default is False
    garden: Option<bool>,
) -> Result<Arrived, ToolError> {
    arrived(&house_designer_design { bedrooms, bathrooms, garden })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum HousePriceForecastFeatures {
    SqFt,
    Bedrooms,
    Bathrooms,
    Location,
}

/// Predict the house prices for a specific location and time frame.
#[tool(category = "multiple")]
pub async fn house_price_forecast(
    /// The city that you want to get the house price prediction for.
    location: String,
    /// Number of future months for the prediction.
    months: i64,
    /// Additional features considered for prediction. Not required. Default empty array
    features: Option<Vec<HousePriceForecastFeatures>>,
) -> Result<Arrived, ToolError> {
    arrived(&house_price_forecast { location, months, features })
}

/// Retrieve forecast of humidity and temperature for a specific location and for a future date.
#[tool(category = "multiple")]
pub async fn humidity_temperature_forecast(
    /// The city that you want to get the humidity and temperature forecast for.
    location: String,
    /// Number of future days for which to retrieve the forecast.
    days: i64,
) -> Result<Arrived, ToolError> {
    arrived(&humidity_temperature_forecast { location, days })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum IdentifyBirdSize {
    #[serde(rename = "small")]
    Small,
    #[serde(rename = "medium")]
    Medium,
    #[serde(rename = "large")]
    Large,
}

/// Identify a bird species based on certain characteristics.
#[tool(category = "parallel")]
pub async fn identify_bird(
    /// Color of the bird.
    color: String,
    /// Habitat of the bird.
    habitat: String,
    /// Size of the bird.
    #[arg(default = "small")]
    size: IdentifyBirdSize,
) -> Result<Arrived, ToolError> {
    arrived(&identify_bird { color, habitat, size })
}

/// Searches the database to find all movies by a specific actor within a certain year.
#[tool(category = "simple_python")]
pub async fn imdb_find_movies_by_actor(
    /// The name of the actor.
    actor_name: String,
    /// The specific year to search in.
    year: i64,
    /// The category of the film (e.g. Drama, Comedy, etc). Default is 'all'
    category: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&imdb_find_movies_by_actor { actor_name, year, category })
}

/// Searches the database to find all movies by a specific actor within a certain year.
#[tool(category = "parallel")]
pub async fn imdb_find_movies_by_actor_2(
    /// The name of the actor.
    actor_name: String,
    /// The specific year to search in.
    year: i64,
    /// The category of the film (e.g. Drama, Comedy, etc). This parameter is optional.
    #[arg(default = "Drama")]
    category: String,
) -> Result<Arrived, ToolError> {
    arrived(&imdb_find_movies_by_actor_2 { actor_name, year, category })
}

/// Updates the graphics of an intro animation based on the specified width and height.
#[tool(category = "simple_java")]
pub async fn intro_step(
    /// The width of the area to update.
    w: i64,
    /// The height of the area to update.
    h: i64,
) -> Result<Arrived, ToolError> {
    arrived(&intro_step { w, h })
}

/// Manage inventory-related queries, including checking product availability, stock updates, size availability, color availability, and bulk availability.
#[tool(category = "live_multiple")]
pub async fn inventory_management(
    /// Unique identifier of the product.
    product_id: String,
    /// List of sizes to check for stock updates, such as ['S', 'M', 'L'].
    #[arg(default = [])]
    sizes: Vec<String>,
    /// Specific color to check for stock updates. Example values could be 'Red', 'Blue', or 'Green'.
    color: Option<String>,
    /// Quantity of the product for bulk availability checks. Indicates how many items are being queried.
    #[arg(default = 1)]
    quantity: i64,
) -> Result<Arrived, ToolError> {
    arrived(&inventory_management { product_id, sizes, color, quantity })
}

/// Manage inventory-related queries, including checking product availability, stock levels for different sizes and colors, and bulk availability.
#[tool(category = "live_multiple")]
pub async fn inventory_management_2(
    /// The unique identifier of the product.
    product_id: String,
    /// A list of sizes to check for stock availability, e.g., ['S', 'M', 'L'].
    #[arg(default = [])]
    sizes: Vec<String>,
    /// The specific color to check for stock availability.
    #[arg(default = "Any")]
    color: String,
) -> Result<Arrived, ToolError> {
    arrived(&inventory_management_2 { product_id, sizes, color })
}

/// Invest a specific amount in a company's stock.
#[tool(category = "parallel_multiple")]
pub async fn investment_invest(
    /// The company you want to invest in.
    company: String,
    /// The amount you want to invest.
    amount: f64,
) -> Result<Arrived, ToolError> {
    arrived(&investment_invest { company, amount })
}

/// Calculate displacement based on initial speed, acceleration, and time interval for a motion along a straight line.
#[tool(category = "parallel_multiple")]
pub async fn kinematics_calculate_displacement(
    /// The initial speed of the moving object in m/s.
    initial_speed: f64,
    /// The rate of change of speed, m/s^2.
    acceleration: f64,
    /// The time interval during which the acceleration is applied, in seconds.
    time: f64,
    /// The number of decimals to round off the result (optional).
    #[arg(default = 2)]
    rounding: i64,
) -> Result<Arrived, ToolError> {
    arrived(&kinematics_calculate_displacement { initial_speed, acceleration, time, rounding })
}

/// Calculate the final velocity of an object given the acceleration and distance travelled, assuming initial velocity is 0.
#[tool(category = "simple_python")]
pub async fn kinematics_final_velocity_from_distance(
    /// Acceleration of the object, m/s^2.
    acceleration: i64,
    /// Distance traveled by the object, m.
    distance: i64,
    /// Initial velocity of the object. Default is 0, m/s
    initial_velocity: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&kinematics_final_velocity_from_distance { acceleration, distance, initial_velocity })
}

/// Calculate the final velocity of an object given the acceleration and distance travelled, assuming initial velocity is 0.
#[tool(category = "parallel")]
pub async fn kinematics_final_velocity_from_distance_2(
    /// Acceleration of the object, m/s^2.
    acceleration: i64,
    /// Distance traveled by the object, m.
    distance: i64,
    /// Initial velocity of the object. Default is 0, m/s
    initial_velocity: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&kinematics_final_velocity_from_distance_2 { acceleration, distance, initial_velocity })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum LanguageTranslatorTranslateSourceLanguage {
    #[serde(rename = "en")]
    En,
    #[serde(rename = "hi")]
    Hi,
    #[serde(rename = "es")]
    Es,
    #[serde(rename = "fr")]
    Fr,
    #[serde(rename = "de")]
    De,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum LanguageTranslatorTranslateTargetLanguage {
    #[serde(rename = "hi")]
    Hi,
    #[serde(rename = "id")]
    Id,
    #[serde(rename = "es")]
    Es,
    #[serde(rename = "fr")]
    Fr,
    #[serde(rename = "de")]
    De,
}

/// Translate text from a source language to a target language using an online translation service.
#[tool(category = "live_simple")]
pub async fn language_translator_translate(
    /// The language code of the source text, such as 'en' for English or 'hi' for Hindi.
    source_language: LanguageTranslatorTranslateSourceLanguage,
    /// The language code for the desired target translation, such as 'hi' for Hindi or 'id' for Indonesian.
    target_language: LanguageTranslatorTranslateTargetLanguage,
    /// The text content to be translated.
    text: String,
) -> Result<Arrived, ToolError> {
    arrived(&language_translator_translate { source_language, target_language, text })
}

/// Retrieve the latest exchange rate between two specified currencies.
#[tool(category = "simple_python")]
pub async fn latest_exchange_rate(
    /// The currency you are converting from.
    source_currency: String,
    /// The currency you are converting to.
    target_currency: String,
    /// The amount to be converted. If omitted, default to exchange rate of 1 unit source currency
    amount: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&latest_exchange_rate { source_currency, target_currency, amount })
}

/// Search and retrieve law cases based on the topic, timeline, and location.
#[tool(category = "simple_python")]
pub async fn law_case_search(
    /// The subject matter of the case.
    topic: String,
    /// The start and end year for searching cases.
    year_range: Vec<i64>,
    /// The location where the case is being heard.
    location: String,
    /// The specific judicial system in which to search (e.g. 'federal', 'state').
    #[arg(default = "all")]
    judicial_system: String,
) -> Result<Arrived, ToolError> {
    arrived(&law_case_search { topic, year_range, location, judicial_system })
}

/// Retrieve months of experience of a Lawyer on handling certain type of law cases.
#[tool(category = "simple_python")]
pub async fn lawyer_get_experience(
    /// The full name of the Lawyer.
    name: String,
    /// The type of law case. eg. Bankruptcy
    law_type: String,
) -> Result<Arrived, ToolError> {
    arrived(&lawyer_get_experience { name, law_type })
}

/// Fetch the top scorer of a specified football league.
#[tool(category = "parallel_multiple")]
pub async fn league_stats_get_top_scorer(
    /// The name of the football league.
    league_name: String,
    /// Season for which to fetch stats (optional). Default is '2019-2020' if not specified.
    season: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&league_stats_get_top_scorer { league_name, season })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum LibraryFindNearbyPreferences {
    #[serde(rename = "Pet-friendly")]
    PetFriendly,
    #[serde(rename = "Disabled Access")]
    DisabledAccess,
    #[serde(rename = "24 hours")]
    V24Hours,
    #[serde(rename = "Cafe Inside")]
    CafeInside,
}

/// Locate nearby libraries based on specific preferences such as being pet-friendly and having disabled access facilities.
#[tool(category = "multiple")]
pub async fn library_find_nearby(
    /// The city, for example, New York City, NY
    location: String,
    /// Your preferences for the library.
    preferences: Vec<LibraryFindNearbyPreferences>,
) -> Result<Arrived, ToolError> {
    arrived(&library_find_nearby { location, preferences })
}

/// Search for a book in a given library with optional parameters
#[tool(category = "parallel_multiple")]
pub async fn library_search_books(
    /// Name or city of library
    location: String,
    /// Genre of the book
    genre: String,
    /// Title of the book. Default is not use it if not specified.
    title: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&library_search_books { location, genre, title })
}

/// Calculate the time taken for light to travel from a celestial body to another.
#[tool(category = "simple_python")]
pub async fn light_travel_time(
    /// The distance between the two celestial bodies in light years.
    distance_in_light_years: i64,
    /// The speed of light in vacuum, in m/s. Default value is 299792458 m/s.
    speed_of_light: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&light_travel_time { distance_in_light_years, speed_of_light })
}

/// Applies linear regression to a given set of independent variables to make a prediction.
#[tool(category = "multiple")]
pub async fn linear_regression(
    /// The independent variables.
    independent_var: Vec<String>,
    /// The dependent variable.
    dependent_var: String,
    /// The number of years to forecast the prices. Default 1
    forecast_period: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&linear_regression { independent_var, dependent_var, forecast_period })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ListFilesFileType {
    #[serde(rename = "txt")]
    Txt,
    #[serde(rename = "md")]
    Md,
    #[serde(rename = "py")]
    Py,
    #[serde(rename = "js")]
    Js,
    #[serde(rename = "css")]
    Css,
    #[serde(rename = "data")]
    Data,
}

/// List all the files within the current project directory. Optionally, list files of a specific type only.
#[tool(category = "live_multiple")]
pub async fn list_files(
    /// The specific file type to list, such as 'txt' for text files or 'md' for markdown files. Provide the extension without the dot.
    file_type: Option<ListFilesFileType>,
    /// Whether to include hidden files (those starting with a dot) in the listing.
    #[arg(default = false)]
    include_hidden: bool,
    /// Whether to recursively list files in all subdirectories.
    #[arg(default = false)]
    recursive: bool,
) -> Result<Arrived, ToolError> {
    arrived(&list_files { file_type, include_hidden, recursive })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ListFiles2Type {
    #[serde(rename = "py")]
    Py,
    #[serde(rename = "txt")]
    Txt,
    #[serde(rename = "md")]
    Md,
    #[serde(rename = "json")]
    Json,
}

/// List all files of a specified type within the current project directory.
#[tool(category = "live_multiple")]
pub async fn list_files_2(
    /// The file extension type to filter the files in the project. For example, 'py' for Python files.
    #[arg(default = "py")]
    r#type: ListFiles2Type,
    /// A flag to determine if hidden files should be included in the list. Hidden files start with a dot ('.').
    #[arg(default = false)]
    include_hidden: bool,
) -> Result<Arrived, ToolError> {
    arrived(&list_files_2 { r#type, include_hidden })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ListServersType {
    #[serde(rename = "all")]
    All,
    #[serde(rename = "postgres")]
    Postgres,
    #[serde(rename = "openapi")]
    Openapi,
    #[serde(rename = "graphql")]
    Graphql,
}

/// Retrieves a list of servers from the specified environment, filtered by the server type if provided.
#[tool(category = "live_multiple")]
pub async fn list_servers(
    /// Specifies the type of server to filter the list. If omitted or if some other type not in the possible types is mentioned by the user, servers of all types are listed.
    #[arg(default = "all")]
    r#type: ListServersType,
) -> Result<Arrived, ToolError> {
    arrived(&list_servers { r#type })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ListServers2Type {
    #[serde(rename = "all")]
    All,
    #[serde(rename = "graphql")]
    Graphql,
    #[serde(rename = "mtna")]
    Mtna,
    #[serde(rename = "openapi")]
    Openapi,
    #[serde(rename = "postgres")]
    Postgres,
    #[serde(rename = "rds")]
    Rds,
    #[serde(rename = "sql")]
    Sql,
}

/// List all the servers in the environment based on the specified server type. If no type is specified, all servers are listed.
#[tool(category = "live_multiple")]
pub async fn list_servers_2(
    /// The type of server to filter the list by. If 'all' is specified or this parameter is omitted, servers of all types will be listed.
    #[arg(default = "all")]
    r#type: ListServers2Type,
) -> Result<Arrived, ToolError> {
    arrived(&list_servers_2 { r#type })
}

/// This tool belongs to the vehicle control system, which allows users to control various aspects of the car such as engine, doors, climate control, lights, and more. Tool description: Converts the liter to gallon.
#[tool(category = "multi_turn_base")]
pub async fn liter_to_gallon(
    /// The amount of liter to convert.
    liter: f64,
) -> Result<Arrived, ToolError> {
    arrived(&liter_to_gallon { liter })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum LogFoodPortionUnit {
    #[serde(rename = "cup")]
    Cup,
    #[serde(rename = "grams")]
    Grams,
    #[serde(rename = "slice")]
    Slice,
    #[serde(rename = "piece")]
    Piece,
    #[serde(rename = "tablespoon")]
    Tablespoon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum LogFoodMealType {
    #[serde(rename = "breakfast")]
    Breakfast,
    #[serde(rename = "lunch")]
    Lunch,
    #[serde(rename = "dinner")]
    Dinner,
    #[serde(rename = "snack")]
    Snack,
}

/// Logs a food item with a given portion size to track dietary intake.
#[tool(category = "live_parallel")]
pub async fn log_food(
    /// The name of the food to log, such as 'apple', 'bread', or 'chicken breast'.
    food_name: String,
    /// The amount of the food item that was consumed, specified in the unit given by portion_unit.
    portion_amount: f64,
    /// The unit of measure for the portion amount, such as 'cup', 'grams', or 'slice'.
    portion_unit: LogFoodPortionUnit,
    /// The type of meal or snack this food item is being logged for.
    #[arg(default = "snack")]
    meal_type: LogFoodMealType,
    /// The date and time when the food was consumed, in ISO 8601 format such as 'YYYY-MM-DDTHH:MM:SSZ'.
    log_date: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&log_food { food_name, portion_amount, portion_unit, meal_type, log_date })
}

/// This tool belongs to the Math API, which provides various mathematical operations. Tool description: Compute the logarithm of a number with adjustable precision using mpmath.
#[tool(category = "multi_turn_base")]
pub async fn logarithm(
    /// The number to compute the logarithm of.
    value: f64,
    /// The base of the logarithm.
    base: f64,
    /// Desired precision for the result.
    precision: i64,
) -> Result<Arrived, ToolError> {
    arrived(&logarithm { value, base, precision })
}

/// Calculate the magnetic field based on the current flowing and the radial distance using Ampere’s law
#[tool(category = "multiple")]
pub async fn magnetic_field_calculate(
    /// The electric current flowing in Amperes.
    #[arg(rename = "I")]
    i: i64,
    /// The radial distance from the line of current in meters.
    r: f64,
) -> Result<Arrived, ToolError> {
    arrived(&magnetic_field_calculate { i, r })
}

/// Retrieve the maintenance configuration settings for a given system or application identified by an ID.
#[tool(category = "live_multiple", allow(tool-name-client))]
pub async fn maintenance_configuration_api_get_maintenance_config(
    /// The unique identifier of the system or application for which maintenance configuration is being retrieved.
    id: String,
) -> Result<Arrived, ToolError> {
    arrived(&maintenance_configuration_api_get_maintenance_config { id })
}

/// Finds the fastest route from one location to another, with an option to avoid toll roads.
#[tool(category = "simple_python")]
pub async fn map_routing_fastest_route(
    /// The starting location for the journey.
    start_location: String,
    /// The destination for the journey.
    end_location: String,
    /// Option to avoid toll roads during the journey. Default is false.
    avoid_tolls: Option<bool>,
) -> Result<Arrived, ToolError> {
    arrived(&map_routing_fastest_route { start_location, end_location, avoid_tolls })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum MapServiceGetDirectionsAvoid {
    #[serde(rename = "tolls")]
    Tolls,
    #[serde(rename = "highways")]
    Highways,
    #[serde(rename = "ferries")]
    Ferries,
}

/// Retrieve directions from a starting location to an ending location, including options for route preferences.
#[tool(category = "simple_python")]
pub async fn map_service_get_directions(
    /// Starting location for the route.
    start: String,
    /// Ending location for the route.
    end: String,
    /// Route features to avoid. Default is ['highways', 'ferries']
    avoid: Option<Vec<MapServiceGetDirectionsAvoid>>,
) -> Result<Arrived, ToolError> {
    arrived(&map_service_get_directions { start, end, avoid })
}

/// Retrieve the market performance data for specified indexes over a specified time period.
#[tool(category = "simple_python")]
pub async fn market_performance_get_data(
    /// Array of stock market indexes. Supported indexes are 'S&P 500', 'Dow Jones', 'NASDAQ', 'FTSE 100', 'DAX' etc.
    indexes: Vec<String>,
    /// Number of days in the past for which the performance data is required.
    days: i64,
    /// Whether to return detailed performance data. If set to true, returns high, low, opening, and closing prices. If false, returns only closing prices. Default is false.
    detailed: Option<bool>,
) -> Result<Arrived, ToolError> {
    arrived(&market_performance_get_data { indexes, days, detailed })
}

/// Calculates the area of a circle given its radius.
#[tool(category = "parallel_multiple")]
pub async fn math_circle_area(
    /// The radius of the circle.
    radius: f64,
) -> Result<Arrived, ToolError> {
    arrived(&math_circle_area { radius })
}

/// Calculate the factorial of a given number.
#[tool(category = "simple_python")]
pub async fn math_factorial(
    /// The number for which factorial needs to be calculated.
    number: i64,
) -> Result<Arrived, ToolError> {
    arrived(&math_factorial { number })
}
