// Written by `cargo run -p bfcl-gen`, do not edit.

//! From `calculate_distance` to `energy_calculator_calculate`.

use tool_core::prelude::*;

use crate::arrived::{Arrived, arrived};

/// Calculate the distance between two celestial bodies.
#[tool(category = "parallel")]
pub async fn calculate_distance(
    /// The first celestial body.
    body1: String,
    /// The second celestial body.
    body2: String,
    /// The unit of measurement, default is 'kilometers'.
    unit: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_distance { body1, body2, unit })
}

/// Calculate distance between two locations.
#[tool(category = "parallel_multiple")]
pub async fn calculate_distance_2(
    /// Starting point of the journey.
    start_point: String,
    /// Ending point of the journey.
    end_point: String,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_distance_2 { start_point, end_point })
}

/// Calculates the price for a service based on the geolocation of the customer, ensuring a minimum price threshold is met.
#[tool(category = "live_simple")]
pub async fn calculate_dynamic_pricing(
    /// The geolocation of the customer in the format of 'Latitude, Longitude', such as '36.2522, -105.3437'.
    geolocation: String,
    /// The base price for the service before location-based adjustments.
    base_price: f64,
    /// The minimum price to charge regardless of the customer's location.
    minimum_price: f64,
    /// Multiplier applied to the base price based on customer's geolocation. A higher multiplier indicates a more expensive area.
    #[arg(default = 1.0)]
    location_multiplier: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_dynamic_pricing { geolocation, base_price, minimum_price, location_multiplier })
}

/// Calculate the electric field produced by a charge at a certain distance.
#[tool(category = "simple_python")]
pub async fn calculate_electric_field(
    /// Charge in coulombs producing the electric field.
    charge: i64,
    /// Distance from the charge in meters where the field is being measured.
    distance: i64,
    /// Permitivity of the space where field is being calculated, default is 8.854e-12.
    permitivity: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_electric_field { charge, distance, permitivity })
}

/// Calculate the final temperature when different quantities of the same gas at different temperatures are mixed.
#[tool(category = "parallel_multiple")]
pub async fn calculate_final_temperature(
    /// The quantity of the first sample of gas.
    quantity1: f64,
    /// The temperature of the first sample of gas.
    temperature1: f64,
    /// The quantity of the second sample of gas.
    quantity2: f64,
    /// The temperature of the second sample of gas.
    temperature2: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_final_temperature { quantity1, temperature1, quantity2, temperature2 })
}

/// Calculate the final velocity of a free falling object given the height it's dropped from, the initial velocity and acceleration due to gravity. Ignore air resistance.
#[tool(category = "simple_python")]
pub async fn calculate_final_velocity(
    /// The height the object is dropped from, in meters.
    height: i64,
    /// The initial velocity of the object in m/s. Default is zero.
    initial_velocity: Option<i64>,
    /// Acceleration due to gravity. Default value is 9.81 m/s^2, earth's gravity.
    gravity: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_final_velocity { height, initial_velocity, gravity })
}

/// Calculate the final velocity of an object under constant acceleration, knowing its initial velocity, acceleration, and time of acceleration.
#[tool(category = "simple_python")]
pub async fn calculate_final_velocity_2(
    /// The initial velocity of the object.
    initial_velocity: i64,
    /// The acceleration of the object.
    acceleration: f64,
    /// The time of acceleration.
    time: i64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_final_velocity_2 { initial_velocity, acceleration, time })
}

/// This function calculates the final velocity of an object in free fall after a certain time, taking into account the acceleration due to gravity and the initial velocity.
#[tool(category = "simple_javascript")]
pub async fn calculate_final_velocity_3(
    /// The time in seconds for which the object has been in free fall.
    time: f64,
    /// The acceleration due to gravity, typically in m/s^2.
    gravity: f64,
    /// The initial velocity of the object in m/s at the start of the free fall.
    #[arg(rename = "initialVelocity")]
    initial_velocity: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_final_velocity_3 { time, gravity, initial_velocity })
}

/// Calculates the future value of an investment based on the present value, interest rate, and time period.
#[tool(category = "simple_python")]
pub async fn calculate_future_value(
    /// The present value or principal amount.
    present_value: i64,
    /// The annual interest rate in decimal form. Example, 5% is 0.05.
    annual_interest_rate: f64,
    /// The time period in years for which the investment is made.
    years: i64,
    /// The number of times the interest is compounded per year. Default is 1 (annual compounding).
    compounds_per_year: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_future_value { present_value, annual_interest_rate, years, compounds_per_year })
}

/// Calculate the definite integral of a single-variable function.
#[tool(category = "multiple")]
pub async fn calculate_integral(
    /// The function to be integrated.
    func: String,
    /// The lower bound of the integration.
    a: i64,
    /// The upper bound of the integration.
    b: i64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_integral { func, a, b })
}

/// Calculate the magnetic field produced at the center of a circular loop carrying current.
#[tool(category = "simple_python")]
pub async fn calculate_magnetic_field(
    /// The current through the circular loop in Amperes.
    current: i64,
    /// The radius of the circular loop in meters.
    radius: i64,
    /// The magnetic permeability. Default is 12.57e10 (Vacuum Permeability).
    permeability: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_magnetic_field { current, radius, permeability })
}

/// Calculate the magnetic field produced at the center of a circular loop carrying current.
#[tool(category = "multiple")]
pub async fn calculate_magnetic_field_2(
    /// The current through the circular loop in Amperes.
    current: i64,
    /// The radius of the circular loop in meters.
    radius: i64,
    /// The magnetic permeability. Default is permeability in free space, 0.01
    permeability: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_magnetic_field_2 { current, radius, permeability })
}

/// Calculate the mass of a gas given its quantity and molar mass.
#[tool(category = "parallel_multiple")]
pub async fn calculate_mass(
    /// The quantity of the gas.
    quantity: f64,
    /// The molar mass of the gas.
    molar_mass: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_mass { quantity, molar_mass })
}

/// Calculate the neuronal activity (rate of firing) based on a given input synaptic rate, weight of inputs, and decay rate. Higher input or weight increases firing rate and higher decay rate decreases it.
#[tool(category = "simple_python")]
pub async fn calculate_neuronal_activity(
    /// The synaptic input rate, usually represented as number of inputs per second.
    input_synaptic_rate: i64,
    /// The weight of the input, denoting its influence on the neuron's state. Default is 1.0.
    weight: Option<f64>,
    /// The rate at which the neuron's potential decays in the absence of inputs.
    decay_rate: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_neuronal_activity { input_synaptic_rate, weight, decay_rate })
}

/// Calculate the return on investment for a given stock based on its purchase price, sale price, and any dividends received.
#[tool(category = "simple_python")]
pub async fn calculate_return_on_investment(
    /// The price the stock was bought at.
    purchase_price: i64,
    /// The price the stock was sold at.
    sale_price: i64,
    /// Any dividends received from the stock.
    #[arg(default = 0)]
    dividend: i64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_return_on_investment { purchase_price, sale_price, dividend })
}

/// Calculate the sales tax for a given purchase amount in a specific city and state.
#[tool(category = "parallel")]
pub async fn calculate_sales_tax(
    /// The purchase amount.
    purchase_amount: f64,
    /// The city where the purchase is made.
    city: String,
    /// The state where the purchase is made.
    state: String,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_sales_tax { purchase_amount, city, state })
}

/// Calculate the area of a triangle using its base and height.
#[tool(category = "simple_python")]
pub async fn calculate_triangle_area(
    /// The length of the base of the triangle.
    base: i64,
    /// The height of the triangle from the base.
    height: i64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_triangle_area { base, height })
}

/// Calculate the annual carbon emissions produced by a specific type of vehicle based on mileage.
#[tool(category = "simple_python")]
pub async fn calculate_vehicle_emission(
    /// The type of vehicle. 'gas' refers to a gasoline vehicle, 'diesel' refers to a diesel vehicle, and 'EV' refers to an electric vehicle.
    vehicle_type: String,
    /// The number of miles driven per year.
    miles_driven: i64,
    /// Optional emission factor to calculate emissions, in g/mile. Default factor is 355.48.
    emission_factor: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_vehicle_emission { vehicle_type, miles_driven, emission_factor })
}

/// Calculate your weight on different planets given your weight on earth
#[tool(category = "parallel_multiple")]
pub async fn calculate_weight_in_space(
    /// Your weight on Earth in Kilograms.
    weight_earth_kg: f64,
    /// The planet you want to know your weight on.
    planet: String,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_weight_in_space { weight_earth_kg, planet })
}

/// This tool belongs to the trading system, which allows users to trade stocks, manage their account, and view stock information. Tool description: Cancel an order.
#[tool(category = "multi_turn_base")]
pub async fn cancel_order(
    /// ID of the order to cancel.
    order_id: i64,
) -> Result<Arrived, ToolError> {
    arrived(&cancel_order { order_id })
}

/// Calculate the area of a circle based on the radius.
#[tool(category = "parallel_multiple")]
pub async fn circle_calculate_area(
    /// The radius of the circle.
    radius: i64,
) -> Result<Arrived, ToolError> {
    arrived(&circle_calculate_area { radius })
}

/// Finds the class file for a given class name within the specified class path and returns the path to the class file.
#[tool(category = "simple_java")]
pub async fn class_file_finder_find_class_file(
    /// The fully qualified name of the class to find.
    name: String,
    /// The class path where to search for the class file, with paths separated by the system path separator.
    #[arg(rename = "classPath")]
    class_path: String,
) -> Result<Arrived, ToolError> {
    arrived(&class_file_finder_find_class_file { name, class_path })
}

/// Close the current data artifex project and archive its contents.
#[tool(category = "live_multiple")]
pub async fn close_project(
    /// The unique identifier of the project to be closed.
    project_id: String,
    /// Determines whether the project should be archived after closing.
    #[arg(default = true)]
    archive: bool,
    /// Whether to notify all users associated with the project about its closure.
    #[arg(default = false)]
    notify_users: bool,
) -> Result<Arrived, ToolError> {
    arrived(&close_project { project_id, archive, notify_users })
}

/// Executes a given command using the os.system() function specifically for Windows operating systems. For multiple commands, separate them with '&&'. For complex tasks, create and run a .bat file.
#[tool(category = "live_simple")]
pub async fn cmd_controller_execute(
    /// The Windows command line instruction(s) to be executed. Use '&&' between commands for multiple instructions. For complex sequences, encapsulate the logic within a .bat file and provide the execution command here.
    command: String,
) -> Result<Arrived, ToolError> {
    arrived(&cmd_controller_execute { command })
}

/// Compose a melody using the specified chord progression for a certain number of measures on specified instrument.
#[tool(category = "simple_python")]
pub async fn compose_melody(
    /// The progression of chords.
    progression: Vec<String>,
    /// The number of measures of the melody.
    measures: i64,
    /// The instrument for the composition. Default is 'Piano'.
    instrument: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&compose_melody { progression, measures, instrument })
}

/// Book concert tickets for a specific artist in a specified city.
#[tool(category = "simple_python")]
pub async fn concert_booking_book_ticket(
    /// The artist you want to book tickets for.
    artist: String,
    /// The city where the concert is.
    city: String,
    /// Number of tickets required. Default is 1.
    num_tickets: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&concert_booking_book_ticket { artist, city, num_tickets })
}

/// Finds details of a concert event.
#[tool(category = "simple_python")]
pub async fn concert_find_details(
    /// Name of the artist performing.
    artist: String,
    /// Month in which the concert is happening.
    month: String,
    /// Year of the concert.
    #[arg(default = 2022)]
    year: i64,
) -> Result<Arrived, ToolError> {
    arrived(&concert_find_details { artist, month, year })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ConcertSearchPriceRange {
    #[serde(rename = "free")]
    Free,
    #[serde(rename = "cheap")]
    Cheap,
    #[serde(rename = "moderate")]
    Moderate,
    #[serde(rename = "expensive")]
    Expensive,
    #[serde(rename = "any")]
    Any,
}

/// Locate a concert based on specific criteria like genre, location, and date.
#[tool(category = "multiple")]
pub async fn concert_search(
    /// Genre of the concert.
    genre: String,
    /// City of the concert.
    location: String,
    /// Date of the concert, e.g. this weekend, today, tomorrow, or date string.
    date: String,
    /// Expected price range of the concert tickets. Default is 'any'
    price_range: Option<ConcertSearchPriceRange>,
) -> Result<Arrived, ToolError> {
    arrived(&concert_search { genre, location, date, price_range })
}

/// This function updates the inner content of a specified div element when the 'update' action is called.
#[tool(category = "simple_javascript")]
pub async fn content_updater(
    /// The ID of the div element whose content is to be updated.
    #[arg(rename = "elementID")]
    element_id: String,
    /// The new content that will replace the current content of the div element.
    #[arg(rename = "newContent")]
    new_content: String,
    /// The action to be performed. In this case, it should be 'update' to change the content.
    action: String,
) -> Result<Arrived, ToolError> {
    arrived(&content_updater { element_id, new_content, action })
}

/// Converts RGB values to Hexadecimal color code.
#[tool(category = "parallel_multiple")]
pub async fn convert_rgb_to_hex(
    /// The Red component.
    r: i64,
    /// The Green component.
    g: i64,
    /// The Blue component.
    b: i64,
) -> Result<Arrived, ToolError> {
    arrived(&convert_rgb_to_hex { r, g, b })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum CookbookSearchRecipeCuisine {
    Italian,
    Chinese,
    Indian,
    French,
    Mexican,
}

/// Searches for cooking recipes based on a provided keyword. Returns a list of recipes that contain the keyword in their title or ingredients list.
#[tool(category = "live_multiple")]
pub async fn cookbook_search_recipe(
    /// The keyword to search for in the recipe titles or ingredients.
    keyword: String,
    /// The cuisine type to narrow down the search results.
    #[arg(default = "Italian")]
    cuisine: CookbookSearchRecipeCuisine,
    /// The maximum number of recipe results to return.
    #[arg(default = 10)]
    max_results: i64,
) -> Result<Arrived, ToolError> {
    arrived(&cookbook_search_recipe { keyword, cuisine, max_results })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum CorporateFinanceDividendDataFrequency {
    #[serde(rename = "quarterly")]
    Quarterly,
    #[serde(rename = "annually")]
    Annually,
}

/// Get historical dividend data of a specific company within a particular duration.
#[tool(category = "multiple")]
pub async fn corporate_finance_dividend_data(
    /// The company that you want to get the dividend data for.
    company: String,
    /// Number of past years for which to retrieve the data.
    years: i64,
    /// The frequency of the dividend payment. Default annually
    frequency: Option<CorporateFinanceDividendDataFrequency>,
) -> Result<Arrived, ToolError> {
    arrived(&corporate_finance_dividend_data { company, years, frequency })
}

/// Search for court cases based on specific criteria.
#[tool(category = "parallel_multiple")]
pub async fn court_records_search_cases(
    /// The city where the court is located
    location: String,
    /// Search string to look for specific cases
    query: String,
    /// Year the case was filed
    year: i64,
    /// Limits the number of results returned
    #[arg(default = 5)]
    limit: i64,
) -> Result<Arrived, ToolError> {
    arrived(&court_records_search_cases { location, query, year, limit })
}

/// This tool belongs to the Gorilla file system. It is a simple file system that allows users to perform basic file operations such as navigating directories, creating files and directories, reading and writing to files, etc. Tool description: Copy a file or directory from one location to another.  If the destination is a directory, the source file or directory will be copied into the destination directory.  Both source and destination must be local to the current directory.
#[tool(category = "multi_turn_base")]
pub async fn cp(
    /// The name of the file or directory to copy.
    source: String,
    /// The destination name to copy the file or directory to. If the destination is a directory, the source will be copied into this directory. No file paths allowed.
    destination: String,
) -> Result<Arrived, ToolError> {
    arrived(&cp { source, destination })
}

/// Create a new player profile with character name, class and starting level.
#[tool(category = "parallel_multiple")]
pub async fn create_player_profile(
    /// The desired name of the player.
    player_name: String,
    /// The character class for the player. Default ''
    class_type: String,
    /// The starting level for the player
    #[arg(default = 1)]
    starting_level: i64,
) -> Result<Arrived, ToolError> {
    arrived(&create_player_profile { player_name, class_type, starting_level })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum CrimeStatuteLookupDetailLevel {
    #[serde(rename = "basic")]
    Basic,
    #[serde(rename = "detailed")]
    Detailed,
}

/// Look up the criminal statutes in a specific jurisdiction to find possible punishments for a specific crime.
#[tool(category = "simple_python")]
pub async fn crime_statute_lookup(
    /// The jurisdiction to search in, usually a state or country.
    jurisdiction: String,
    /// The crime to search for.
    crime: String,
    /// How detailed of a report to return. Optional, default is 'basic'.
    detail_level: Option<CrimeStatuteLookupDetailLevel>,
) -> Result<Arrived, ToolError> {
    arrived(&crime_statute_lookup { jurisdiction, crime, detail_level })
}

/// Calculates the current cost in target currency given the amount in base currency and exchange rate
#[tool(category = "simple_python")]
pub async fn currency_converter(
    /// The currency to convert from.
    base_currency: String,
    /// The currency to convert to.
    target_currency: String,
    /// The amount in base currency
    amount: f64,
) -> Result<Arrived, ToolError> {
    arrived(&currency_converter { base_currency, target_currency, amount })
}

/// Convert an amount from a base currency to a target currency based on the current exchange rate.
#[tool(category = "simple_python")]
pub async fn currency_exchange_convert(
    /// The currency to convert from.
    base_currency: String,
    /// The currency to convert to.
    target_currency: String,
    /// The amount in base currency to convert
    amount: i64,
) -> Result<Arrived, ToolError> {
    arrived(&currency_exchange_convert { base_currency, target_currency, amount })
}

/// Get the current weather conditions of a specific city including temperature and humidity.
#[tool(category = "simple_python")]
pub async fn current_weather_condition(
    /// The city that you want to get the current weather conditions for.
    city: String,
    /// The country of the city you specified.
    country: String,
    /// You can specify which unit to display the temperature in, 'c' for Celsius, 'f' for Fahrenheit. Default is 'c'.
    measurement: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&current_weather_condition { city, country, measurement })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum DartfxHelpTopic {
    #[serde(rename = "installation")]
    Installation,
    #[serde(rename = "configuration")]
    Configuration,
    #[serde(rename = "troubleshooting")]
    Troubleshooting,
    #[serde(rename = "usage")]
    Usage,
    #[serde(rename = "functions")]
    Functions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum DartfxHelpOutputFormat {
    #[serde(rename = "text")]
    Text,
    #[serde(rename = "HTML")]
    Html,
    #[serde(rename = "PDF")]
    Pdf,
}

/// Provides assistance by returning the documentation links and usage instructions for the DartFX library.
#[tool(category = "live_multiple")]
pub async fn dartfx_help(
    /// The specific topic or function within DartFX for which help is requested. For example, 'installation', 'configuration', or 'troubleshooting'.
    #[arg(default = "usage")]
    topic: DartfxHelpTopic,
    /// The format in which the help information should be returned, such as 'text', 'HTML', or 'PDF'.
    #[arg(default = "text")]
    output_format: DartfxHelpOutputFormat,
) -> Result<Arrived, ToolError> {
    arrived(&dartfx_help { topic, output_format })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum DartfxHelp2Topic {
    #[serde(rename = "trading")]
    Trading,
    #[serde(rename = "charts")]
    Charts,
    #[serde(rename = "settings")]
    Settings,
    #[serde(rename = "accounts")]
    Accounts,
    #[serde(rename = "support")]
    Support,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum DartfxHelp2Language {
    English,
    Spanish,
    French,
    German,
    Chinese,
}

/// Provides assistance on a specific topic within the DartFX application. Returns detailed information and guidance for the user.
#[tool(category = "live_multiple")]
pub async fn dartfx_help_2(
    /// The topic for which help is requested. This should be a keyword or phrase related to a feature or module within the DartFX application.
    topic: DartfxHelp2Topic,
    /// The language in which the help content should be provided. Defaults to English if not specified.
    #[arg(default = "English")]
    language: DartfxHelp2Language,
) -> Result<Arrived, ToolError> {
    arrived(&dartfx_help_2 { topic, language })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum DartfxHelp3Language {
    English,
    Spanish,
    French,
    German,
    Mandarin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum DartfxHelp3Format {
    #[serde(rename = "text")]
    Text,
    #[serde(rename = "audio")]
    Audio,
    #[serde(rename = "video")]
    Video,
}

/// Provides assistance to the user on a particular topic by displaying relevant help information.
#[tool(category = "live_multiple")]
pub async fn dartfx_help_3(
    /// The specific topic for which help is requested. It should be a recognizable keyword or phrase.
    topic: String,
    /// Specifies whether to perform a deep search in the help database. A deep search may take longer but yields comprehensive results.
    #[arg(default = false)]
    search_deep: bool,
    /// The language in which to provide the help information.
    #[arg(default = "English")]
    language: DartfxHelp3Language,
    /// The format in which the help information should be presented to the user.
    #[arg(default = "text")]
    format: DartfxHelp3Format,
) -> Result<Arrived, ToolError> {
    arrived(&dartfx_help_3 { topic, search_deep, language, format })
}

/// This tool belongs to the Message API, which is used to manage user interactions in a workspace. Tool description: Delete the latest message sent to a receiver.
#[tool(category = "multi_turn_base")]
pub async fn delete_message(
    /// User ID of the user to send the message to.
    receiver_id: String,
) -> Result<Arrived, ToolError> {
    arrived(&delete_message { receiver_id })
}

/// Retrieve a detailed weather forecast for a specific location and duration including optional precipitation details.
#[tool(category = "simple_python")]
pub async fn detailed_weather_forecast(
    /// The city name that you want to get the weather for.
    location: String,
    /// Duration in hours for the detailed forecast.
    duration: i64,
    /// Whether to include precipitation data in the forecast. Default is false.
    include_precipitation: Option<bool>,
) -> Result<Arrived, ToolError> {
    arrived(&detailed_weather_forecast { location, duration, include_precipitation })
}

/// Retrieve the name of the discoverer of an element based on its name.
#[tool(category = "simple_python")]
pub async fn discoverer_get(
    /// The name of the element.
    element_name: String,
    /// Optional parameter that refers to the year of discovery. It could be helpful in case an element was discovered more than once. Default to 0, which means not use it.
    year: Option<i64>,
    /// Optional parameter indicating if the first discoverer's name should be retrieved.
    #[arg(default = true)]
    first: bool,
) -> Result<Arrived, ToolError> {
    arrived(&discoverer_get { element_name, year, first })
}

/// This tool belongs to the Gorilla file system. It is a simple file system that allows users to perform basic file operations such as navigating directories, creating files and directories, reading and writing to files, etc. Tool description: Estimate the disk usage of a directory and its contents.
#[tool(category = "multi_turn_base")]
pub async fn du(
    /// If True, returns the size in human-readable format (e.g., KB, MB).
    #[arg(default = false)]
    human_readable: bool,
) -> Result<Arrived, ToolError> {
    arrived(&du { human_readable })
}

/// This tool belongs to the Gorilla file system. It is a simple file system that allows users to perform basic file operations such as navigating directories, creating files and directories, reading and writing to files, etc. Tool description: Write content to a file at current directory or display it in the terminal.
#[tool(category = "multi_turn_base")]
pub async fn echo(
    /// The content to write or display.
    content: String,
    /// The name of the file at current directory to write the content to. Defaults to None.
    #[arg(default = "None")]
    file_name: String,
) -> Result<Arrived, ToolError> {
    arrived(&echo { content, file_name })
}

/// This function validates if a given email address adheres to the standard email format and can optionally check against specific domain criteria.
#[tool(category = "simple_javascript")]
pub async fn email_format_validator(
    /// The email address to validate against the standard email format.
    email: String,
    /// An optional parameter for domain-specific validation. Default is an empty string, which means no custom domain validation.
    domain: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&email_format_validator { email, domain })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum EmployeeFetchDataDataField {
    #[serde(rename = "Personal Info")]
    PersonalInfo,
    #[serde(rename = "Job History")]
    JobHistory,
    Payroll,
    Attendance,
}

/// Fetches the detailed data for a specific employee in a given company.
#[tool(category = "parallel")]
pub async fn employee_fetch_data(
    /// The name of the company.
    company_name: String,
    /// The unique ID of the employee.
    employee_id: i64,
    /// Fields of data to be fetched for the employee (Optional).
    #[arg(default = ["Personal Info"])]
    data_field: Vec<EmployeeFetchDataDataField>,
) -> Result<Arrived, ToolError> {
    arrived(&employee_fetch_data { company_name, employee_id, data_field })
}

/// Calculate the energy needed to heat a substance from an initial to a final temperature.
#[tool(category = "parallel_multiple")]
pub async fn energy_calculator_calculate(
    /// The substance to be heated.
    substance: String,
    /// The mass of the substance in grams.
    mass: f64,
    /// The initial temperature of the substance in degrees Celsius.
    initial_temperature: f64,
    /// The final temperature of the substance in degrees Celsius.
    final_temperature: f64,
    /// The unit to report the energy in. Options are 'joules' and 'calories'. Defaults to 'joules'.
    unit: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&energy_calculator_calculate { substance, mass, initial_temperature, final_temperature, unit })
}
