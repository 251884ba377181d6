// Written by `cargo run -p bfcl-gen`, do not edit.

//! From `plot_sine_wave_2` to `sports_ranking_2`.

use tool_core::prelude::*;

use crate::arrived::{Arrived, arrived};

/// Plot a sine wave for a given frequency in a given range.
#[tool(category = "parallel")]
pub async fn plot_sine_wave_2(
    /// Start of the range in radians.
    start_range: i64,
    /// End of the range in radians.
    end_range: i64,
    /// Frequency of the sine wave in Hz.
    frequency: i64,
    /// Amplitude of the sine wave. Default is 1.
    amplitude: Option<i64>,
    /// Phase shift of the sine wave in radians. Default is 0.
    phase_shift: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&plot_sine_wave_2 { start_range, end_range, frequency, amplitude, phase_shift })
}

/// Updates the new status for a list of product IDs in the product management system.
#[tool(category = "simple_java")]
pub async fn pms_product_service_impl_update_new_status(
    /// A list of product IDs to update the new status for. Product ID is Long type
    ids: Vec<i64>,
    /// The new status to be set for the given product IDs.
    #[arg(rename = "newStatus")]
    new_status: i64,
) -> Result<Arrived, ToolError> {
    arrived(&pms_product_service_impl_update_new_status { ids, new_status })
}

/// Retrieve the set of moves a Pokemon can learn. The optional parameter checks if the Pokemon can learn a specified move.
#[tool(category = "parallel")]
pub async fn pokemon_go_get_moves(
    /// The name of the Pokemon.
    pokemon: String,
    /// An optional parameter that checks if the Pokemon can learn this specific move. default is 'Run'
    r#move: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&pokemon_go_get_moves { pokemon, r#move })
}

/// Calculate the effective population size necessary to maintain genetic diversity in a wild animal population for a specified number of generations with a given probability.
#[tool(category = "multiple")]
pub async fn population_genetics_calculate_ne(
    /// The species of wild animal.
    species: String,
    /// The number of generations for which to maintain the genetic diversity.
    generations: i64,
    /// The probability of maintaining genetic diversity.
    probability: f64,
) -> Result<Arrived, ToolError> {
    arrived(&population_genetics_calculate_ne { species, generations, probability })
}

/// This tool belongs to the vehicle control system, which allows users to control various aspects of the car such as engine, doors, climate control, lights, and more. Tool description: Presses the brake pedal based on pedal position. The brake pedal will be kept pressed until released.
#[tool(category = "multi_turn_base")]
pub async fn press_brake_pedal(
    /// Position of the brake pedal, between 0 (not pressed) and 1 (fully pressed).
    #[arg(rename = "pedalPosition")]
    pedal_position: f64,
) -> Result<Arrived, ToolError> {
    arrived(&press_brake_pedal { pedal_position })
}

/// Calculate the prime factorization of a given integer.
#[tool(category = "simple_python")]
pub async fn prime_factorize(
    /// The number for which to calculate the prime factorization.
    number: i64,
    /// Determines the format of the returned prime factorization. Can be 'list' for a list of all prime factors or 'dictionary' for a count of each prime factor. Default is 'list'.
    return_type: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&prime_factorize { number, return_type })
}

/// Compute the probability of having 'success' outcome from binomial distribution.
#[tool(category = "simple_python")]
pub async fn prob_dist_binomial(
    /// The number of independent experiments.
    trials: i64,
    /// The number of success events.
    successes: i64,
    /// The probability of success on any given trial, defaults to 0.5
    p: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&prob_dist_binomial { trials, successes, p })
}

/// Calculate the probability of rolling a certain number on a six-sided die a certain number of times in a row.
#[tool(category = "simple_python")]
pub async fn probability_dice_roll(
    /// The number you want to roll.
    desired_number: i64,
    /// How many times you want to roll that number in a row.
    number_of_rolls: i64,
    /// The number of sides on the die (optional; default is 6).
    die_sides: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&probability_dice_roll { desired_number, number_of_rolls, die_sides })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ProcessDataEncodingType {
    #[serde(rename = "label")]
    Label,
    #[serde(rename = "one-hot")]
    OneHot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ProcessDataMissingValues {
    #[serde(rename = "mean")]
    Mean,
    #[serde(rename = "median")]
    Median,
    #[serde(rename = "most_frequent")]
    MostFrequent,
}

/// This function preprocesses the input data by applying normalization and encoding categorical variables. It prepares data for machine learning models, ensuring numerical values are scaled properly and categorical variables are appropriately transformed.
#[tool(category = "live_simple")]
pub async fn process_data(
    /// A list of numerical values representing the data to be processed. Each value should be a floating-point number.
    data: Vec<f64>,
    /// A flag indicating whether to apply normalization to the numerical data. If set to true, the data will be scaled to a standard range.
    normalize: bool,
    /// A list of categories for encoding categorical variables. Each category should be a unique string identifier.
    categories: Vec<String>,
    /// The method used to encode categorical variables. Choose 'label' for label encoding and 'one-hot' for one-hot encoding.
    #[arg(default = "label")]
    encoding_type: ProcessDataEncodingType,
    /// The strategy for handling missing values in the dataset. Select 'mean' to replace missing values with the mean of the column, 'median' for the median, or 'most_frequent' for the most frequent value.
    #[arg(default = "mean")]
    missing_values: ProcessDataMissingValues,
) -> Result<Arrived, ToolError> {
    arrived(&process_data { data, normalize, categories, encoding_type, missing_values })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ProductSearchCategory {
    #[serde(rename = "electronics")]
    Electronics,
    #[serde(rename = "clothing")]
    Clothing,
    #[serde(rename = "books")]
    Books,
    #[serde(rename = "home appliances")]
    HomeAppliances,
    #[serde(rename = "toys")]
    Toys,
}

/// Search for products based on a variety of criteria such as category, color, and size.
#[tool(category = "live_multiple")]
pub async fn product_search(
    /// The category of the product to filter search results. For example, 'electronics', 'clothing', or 'books'.
    category: ProductSearchCategory,
    /// The color of the product to filter search results. For example, 'red', 'blue', or 'green'.
    #[arg(default = "any")]
    color: String,
    /// The size of the product to filter search results. Expected values could be 'small', 'medium', 'large', or specific sizes like 'S', 'M', 'L' for clothing.
    #[arg(default = "any")]
    size: String,
) -> Result<Arrived, ToolError> {
    arrived(&product_search { category, color, size })
}

/// Retrieves a list of all child projects associated with a specific tag within a parent project.
#[tool(category = "live_multiple", allow(tool-name-client))]
pub async fn project_api_project_api_get_children_projects_by_tag(
    /// The unique identifier used to filter child projects within the parent project.
    tag: String,
    /// The universally unique identifier (UUID) of the parent project from which to retrieve child projects.
    uuid: String,
    /// Determines whether to exclude inactive child projects from the results.
    #[arg(rename = "excludeInactive", default = false)]
    exclude_inactive: bool,
) -> Result<Arrived, ToolError> {
    arrived(&project_api_project_api_get_children_projects_by_tag { tag, uuid, exclude_inactive })
}

/// Searches the prior conversation history for occurrences of a specified string and returns paginated results.
#[tool(category = "live_multiple")]
pub async fn recall_memory_search(
    /// The search string to locate within the conversation history.
    query: String,
    /// Specifies the page number of results to retrieve, where 0 represents the first page.
    #[arg(default = 0)]
    page: i64,
    /// When set to true, triggers an immediate heartbeat post function execution to facilitate follow-up actions.
    #[arg(default = false)]
    request_heartbeat: bool,
) -> Result<Arrived, ToolError> {
    arrived(&recall_memory_search { query, page, request_heartbeat })
}

/// Calculate the estimated preparation and cooking time for a specified recipe.
#[tool(category = "parallel_multiple")]
pub async fn recipe_prep_time(
    /// Name of the recipe to calculate time for.
    recipe: String,
) -> Result<Arrived, ToolError> {
    arrived(&recipe_prep_time { recipe })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum RecipeSearchDiet {
    #[serde(rename = "Gluten Free")]
    GlutenFree,
    #[serde(rename = "Dairy Free")]
    DairyFree,
    Vegan,
    Vegetarian,
}

/// Search for a cooking recipe based on specific dietary needs and time constraint.
#[tool(category = "simple_python")]
pub async fn recipe_search(
    /// Specific dietary need.
    diet: Vec<RecipeSearchDiet>,
    /// The maximum time to prepare the recipe in minutes. Default is 60 minutes.
    time_limit: Option<i64>,
    /// The name of the dish to search for. Default is not use if not specified.
    dish: String,
) -> Result<Arrived, ToolError> {
    arrived(&recipe_search { diet, time_limit, dish })
}

/// Searches for recipes based on a list of ingredients and a maximum caloric value.
#[tool(category = "parallel_multiple")]
pub async fn recipe_search_2(
    /// A list of ingredients you want to use in the recipe.
    ingredients: Vec<String>,
    /// The maximum number of calories for the recipe.
    calories: i64,
    /// Type of the meal for the recipe, it's optional and could be breakfast, lunch or dinner. Default is all if not specified.
    meal: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&recipe_search_2 { ingredients, calories, meal })
}

/// Records the categories to which various banking-related queries are classified.
#[tool(category = "live_simple")]
pub async fn record(
    /// An array of strings containing queries about starting or signing up for telephone banking services.
    faq_describe_telephone_banking_start: Vec<String>,
    /// An array of strings containing queries regarding the working hours or locations of bank branches.
    bank_hours_start: Vec<String>,
    /// An array of strings containing queries about descriptions of different types of bank accounts.
    faq_describe_accounts_start: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&record { faq_describe_telephone_banking_start, bank_hours_start, faq_describe_accounts_start })
}

/// Records the classification of specified customer service queries.
#[tool(category = "live_simple")]
pub async fn record_2(
    /// List of queries for transferring funds between accounts.
    money_movement_start: Vec<String>,
    /// List of queries for viewing transactions, including deposits, purchases, and transaction details.
    get_transactions_start: Vec<String>,
    /// List of customer requests to increase credit card limits or complaints about the current limit.
    credit_limit_increase_start: Vec<String>,
    /// List of queries related to linking accounts within the bank's system.
    faq_link_accounts_start: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&record_2 { money_movement_start, get_transactions_start, credit_limit_increase_start, faq_link_accounts_start })
}

/// Calculate the area of a rectangle with given length and width
#[tool(category = "multiple")]
pub async fn rectangle_area(
    /// Length of the rectangle
    length: i64,
    /// Width of the rectangle
    width: i64,
) -> Result<Arrived, ToolError> {
    arrived(&rectangle_area { length, width })
}

/// Retrieve the biography and main religious and historical contributions of a Pope based on his papal name.
#[tool(category = "simple_python")]
pub async fn religious_history_get_papal_biography(
    /// The papal name of the Pope.
    papal_name: String,
    /// Include main contributions of the Pope in the response if true.
    include_contributions: bool,
) -> Result<Arrived, ToolError> {
    arrived(&religious_history_get_papal_biography { papal_name, include_contributions })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum RentalCars3GetCarsAvailableCarType {
    Hatchback,
    Sedan,
    #[serde(rename = "SUV")]
    Suv,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Retrieve a list of available rental cars based on the specified location and rental period.
#[tool(category = "live_multiple")]
pub async fn rental_cars_3_get_cars_available(
    /// The city in which the rental car will be picked up, such as 'Los Angeles, CA'.
    city: String,
    /// The start date for the rental period, in the format 'YYYY-MM-DD'.
    start_date: String,
    /// The pickup time on the start date, in 24-hour format 'HH:MM'.
    pickup_time: String,
    /// The end date for the rental period, in the format 'YYYY-MM-DD'.
    end_date: String,
    /// The preferred type of rental car.
    #[arg(default = "dontcare")]
    car_type: RentalCars3GetCarsAvailableCarType,
) -> Result<Arrived, ToolError> {
    arrived(&rental_cars_3_get_cars_available { city, start_date, pickup_time, end_date, car_type })
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct RequestsGetParams {}

/// Sends an HTTP GET request to retrieve Device Connector Versions information from a specified URL.
#[tool(category = "live_simple")]
pub async fn requests_get(
    /// The URL to which the GET request is sent. The URL points to a JSON file containing Device Connector Versions information.
    url: String,
    /// Optional query parameters to include in the GET request as key-value pairs.
    #[arg(default = {})]
    params: RequestsGetParams,
) -> Result<Arrived, ToolError> {
    arrived(&requests_get { url, params })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum RescheduleTimezone {
    #[serde(rename = "UTC")]
    Utc,
    #[serde(rename = "Asia/Tokyo")]
    AsiaTokyo,
    #[serde(rename = "America/New_York")]
    AmericaNewYork,
    #[serde(rename = "Europe/London")]
    EuropeLondon,
}

/// Moves an event to a new specified time, adjusting for the provided timezone.
#[tool(category = "live_simple")]
pub async fn reschedule(
    /// A unique identifier for the event to be rescheduled.
    identifier: String,
    /// The new date and time to which the event should be moved, in ISO-8601 format (e.g., 'YYYY-MM-DDTHH:MM:SSZ'). Timezone is not included and should be specified separately.
    #[arg(rename = "dateOrTime")]
    date_or_time: String,
    /// The Olson timezone identifier for the new event time, such as 'Asia/Tokyo'.
    #[arg(default = "UTC")]
    timezone: RescheduleTimezone,
) -> Result<Arrived, ToolError> {
    arrived(&reschedule { identifier, date_or_time, timezone })
}

/// Locate restaurants based on specific criteria such as cuisine and price range
#[tool(category = "parallel_multiple")]
pub async fn restaurant_find(
    /// The type of cuisine preferred.
    cuisine: String,
    /// Price range of the restaurant in format ['low', 'mid', 'high']. Default is 'mid' if not specified.
    price: Option<Vec<String>>,
) -> Result<Arrived, ToolError> {
    arrived(&restaurant_find { cuisine, price })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum RestaurantInfoFoodType {
    Italian,
    Chinese,
    Mexican,
    American,
}

/// Get restaurant information for a specific area.
#[tool(category = "parallel_multiple")]
pub async fn restaurant_info(
    /// Location for which to find restaurants.
    location: String,
    /// Type of cuisine for which to find restaurants. Default is 'all' if not specified.
    food_type: Option<RestaurantInfoFoodType>,
) -> Result<Arrived, ToolError> {
    arrived(&restaurant_info { location, food_type })
}

/// This tool belongs to the TwitterAPI, which provides core functionality for posting tweets, retweeting, commenting, and following users on Twitter. Tool description: Retweet a tweet for the authenticated user.
#[tool(category = "multi_turn_base")]
pub async fn retweet(
    /// ID of the tweet to retweet.
    tweet_id: i64,
) -> Result<Arrived, ToolError> {
    arrived(&retweet { tweet_id })
}

/// Retrieve the average rating and reviews for a specified interviewer based on their full name.
#[tool(category = "live_multiple")]
pub async fn review_of_interviewer(
    /// The full name of the interviewer to fetch reviews for, e.g., 'Jane Doe'.
    interviewer_name: String,
    /// Flag to determine whether to include text comments in the response.
    #[arg(default = false)]
    include_comments: bool,
) -> Result<Arrived, ToolError> {
    arrived(&review_of_interviewer { interviewer_name, include_comments })
}

/// Fetch the diameter of an atomic particle
#[tool(category = "parallel_multiple")]
pub async fn science_facts_get_diameter(
    /// The atomic particle. e.g. Electron, Proton
    particle: String,
    /// Unit to retrieve diameter. For example, 'meter', 'cm', 'femtometers' etc.
    unit: String,
) -> Result<Arrived, ToolError> {
    arrived(&science_facts_get_diameter { particle, unit })
}

/// Retrieve the details of a scientific discovery based on the discovery name.
#[tool(category = "simple_python")]
pub async fn science_history_get_discovery_details(
    /// The name of the discovery, e.g. Gravity
    discovery: String,
    /// The method used for the discovery, default value is 'default' which gives the most accepted method.
    method_used: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&science_history_get_discovery_details { discovery, method_used })
}

/// Check the availability of a specific sculpture in the inventory.
#[tool(category = "parallel_multiple")]
pub async fn sculpture_availability_check(
    /// The name of the sculpture.
    sculpture_name: String,
    /// The material of the sculpture.
    material: String,
) -> Result<Arrived, ToolError> {
    arrived(&sculpture_availability_check { sculpture_name, material })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum SculpturePriceCalculateComplexity {
    #[serde(rename = "low")]
    Low,
    #[serde(rename = "medium")]
    Medium,
    #[serde(rename = "high")]
    High,
}

/// Calculate the estimated price to commission a sculpture based on the material and size.
#[tool(category = "multiple")]
pub async fn sculpture_price_calculate(
    /// The material used for the sculpture.
    material: String,
    /// The size of the sculpture in feet.
    size: i64,
    /// The complexity level of the sculpture. Default is 'medium'.
    #[arg(default = "medium")]
    complexity: SculpturePriceCalculateComplexity,
) -> Result<Arrived, ToolError> {
    arrived(&sculpture_price_calculate { material, size, complexity })
}

/// Send an email to the specified email address.
#[tool(category = "parallel_multiple")]
pub async fn send_email(
    /// The email address to send to.
    to: String,
    /// The subject of the email.
    subject: String,
    /// The body content of the email.
    body: String,
    /// The email address to carbon copy. Default is none if not provided.
    cc: Option<String>,
    /// The email address to blind carbon copy. Default is none if not provided.
    bcc: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&send_email { to, subject, body, cc, bcc })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Services1FindProviderIsUnisex {
    True,
    False,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Search for a hair stylist within a specified city and filter by whether the salon is unisex or not.
#[tool(category = "live_multiple")]
pub async fn services_1_find_provider(
    /// The city where the salon is located, such as 'Berkeley, CA' or 'New York, NY'.
    city: String,
    /// Indicates if the salon accommodates all genders. 'True' for yes, 'False' for no, 'dontcare' for no preference.
    #[arg(default = "dontcare")]
    is_unisex: Services1FindProviderIsUnisex,
) -> Result<Arrived, ToolError> {
    arrived(&services_1_find_provider { city, is_unisex })
}

/// Search for a hair stylist by city and optionally filter by whether the salon is unisex.
#[tool(category = "live_multiple")]
pub async fn services_1_find_provider_2(
    /// The city where the salon is located, in the format of 'City, State', such as 'Berkeley, CA' or 'New York, NY'.
    city: String,
    /// Flag indicating if the salon is unisex. A value of 'True' means the salon is unisex, 'False' means it is not.
    #[arg(default = false)]
    is_unisex: bool,
) -> Result<Arrived, ToolError> {
    arrived(&services_1_find_provider_2 { city, is_unisex })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Services4FindProviderType {
    Psychologist,
    #[serde(rename = "Family Counselor")]
    FamilyCounselor,
    Psychiatrist,
}

/// Discovers therapists based on the user's specified conditions and preferences within a given city.
#[tool(category = "live_multiple")]
pub async fn services_4_find_provider(
    /// The city in which the user is searching for a therapist, in the format of 'City, State', such as 'Berkeley, CA' or 'New York, NY'. State names must be abbreviated with two letters.
    city: String,
    /// The specific type of therapist the user is looking for.
    r#type: Services4FindProviderType,
) -> Result<Arrived, ToolError> {
    arrived(&services_4_find_provider { city, r#type })
}

/// Set an alarm for a specific time. The time can be specified in various formats, such as 'YYYY-MM-DD HH:MM:SS', 'HH:MM:SS', 'HH:MM', or with AM/PM. Examples: '2023-06-01 09:30:00', '14:45', '9:30 AM'.
#[tool(category = "live_multiple")]
pub async fn set_alarm(
    /// The alarm time in a valid time format, such as 'YYYY-MM-DD HH:MM:SS', 'HH:MM:SS', 'HH:MM', or 'HH:MM AM/PM'.
    alarm_time: String,
    /// The purpose of the alarm. For example, 'wake-up call' or 'meeting reminder'.
    #[arg(default = "General alarm")]
    purpose: String,
) -> Result<Arrived, ToolError> {
    arrived(&set_alarm { alarm_time, purpose })
}

/// Set an alarm for a specific time. The time can be specified in various formats, including 'YYYY-MM-DD HH:MM:SS' for specific dates, 'HH:MM:SS' or 'HH:MM' for time only, and 'HH:MM AM/PM' for 12-hour format. Examples: '2023-06-01 09:30:00', '14:45:00', '9:30 AM'.
#[tool(category = "live_multiple")]
pub async fn set_alarm_2(
    /// The alarm time in a recognized format such as 'YYYY-MM-DD HH:MM:SS', 'HH:MM:SS', 'HH:MM', or 'HH:MM AM/PM'.
    alarm_time: String,
    /// The purpose of the alarm, such as 'wake up' or 'meeting'.
    #[arg(default = "General reminder")]
    purpose: String,
) -> Result<Arrived, ToolError> {
    arrived(&set_alarm_2 { alarm_time, purpose })
}

/// Set an alarm for a specific time. The time can be specified in various standardized formats, such as 'YYYY-MM-DD HH:MM:SS' for specific date and time, 'HH:MM:SS' for time of the day, or 'HH:MM' for a shorter version without seconds. AM/PM can also be used to specify the time, for example, '9:30 AM'.
#[tool(category = "live_multiple")]
pub async fn set_alarm_3(
    /// The alarm time in a standard 24-hour format ('HH:MM' or 'HH:MM:SS') or a standard 12-hour format with AM/PM ('HH:MM AM/PM'). Date can be included in the format 'YYYY-MM-DD HH:MM:SS'. Examples: '2023-06-01 09:30:00', '14:45', '9:30 AM'.
    alarm_time: String,
    /// The purpose of the alarm, such as 'wake up' or 'meeting'. Optional parameter.
    #[arg(default = "reminder")]
    purpose: String,
) -> Result<Arrived, ToolError> {
    arrived(&set_alarm_3 { alarm_time, purpose })
}

/// This tool belongs to the vehicle control system, which allows users to control various aspects of the car such as engine, doors, climate control, lights, and more. Tool description: Sets the cruise control of the vehicle.
#[tool(category = "multi_turn_base")]
pub async fn set_cruise_control(
    /// The speed to set in m/h. The speed should be between 0 and 120 and a multiple of 5.
    speed: f64,
    /// True to activate the cruise control, False to deactivate.
    activate: bool,
    /// The distance to the next vehicle in meters.
    #[arg(rename = "distanceToNextVehicle")]
    distance_to_next_vehicle: f64,
) -> Result<Arrived, ToolError> {
    arrived(&set_cruise_control { speed, activate, distance_to_next_vehicle })
}

/// This tool belongs to the vehicle control system, which allows users to control various aspects of the car such as engine, doors, climate control, lights, and more. Tool description: Navigates to the destination.
#[tool(category = "multi_turn_base")]
pub async fn set_navigation(
    /// The destination to navigate in the format of street, city, state.
    destination: String,
) -> Result<Arrived, ToolError> {
    arrived(&set_navigation { destination })
}

/// Retrieves a list of SmsHomeNewProduct entities based on the provided product name, recommendation status, and pagination settings.
#[tool(category = "simple_java")]
pub async fn sms_home_new_product_service_impl_list(
    /// The name of the product to filter by, using a 'like' search pattern.
    #[arg(rename = "productName")]
    product_name: String,
    /// The recommendation status to filter by.
    #[arg(rename = "recommendStatus")]
    recommend_status: i64,
    /// The number of items to return per page.
    #[arg(rename = "pageSize")]
    page_size: i64,
    /// The page number to retrieve.
    #[arg(rename = "pageNum")]
    page_num: i64,
) -> Result<Arrived, ToolError> {
    arrived(&sms_home_new_product_service_impl_list { product_name, recommend_status, page_size, page_num })
}

/// Updates the sort order of a recommended subject by its ID and returns a common result indicating success or failure.
#[tool(category = "simple_java")]
pub async fn sms_home_recommend_subject_controller_update_sort(
    /// The unique identifier of the recommended subject to update.
    id: i64,
    /// The new sort order value for the recommended subject.
    sort: i64,
) -> Result<Arrived, ToolError> {
    arrived(&sms_home_recommend_subject_controller_update_sort { id, sort })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum SoftwareVersionsType {
    #[serde(rename = "runtime")]
    Runtime,
    #[serde(rename = "package_manager")]
    PackageManager,
}

/// Retrieve information about the installed software, including runtime and package manager details. Use optional filters to refine the results.
#[tool(category = "live_multiple")]
pub async fn software_versions(
    /// The time at which the software details were retrieved, in the format 'YYYY-MM-DD HH:MM:SS'.
    #[arg(default = "null")]
    time: String,
    /// The source or repository from which the software was installed.
    #[arg(default = "")]
    origin: String,
    /// The type of the software, such as 'runtime' or 'package_manager'.
    r#type: Option<SoftwareVersionsType>,
    /// The name of the software to filter by.
    #[arg(default = "")]
    name: String,
    /// The version of the software to filter by.
    #[arg(default = "")]
    version: String,
) -> Result<Arrived, ToolError> {
    arrived(&software_versions { time, origin, r#type, name, version })
}

/// Solve a quadratic equation given coefficients a, b, and c. If optional 'root_type' is 'real', the function will only return real roots. If not specified, function may return complex roots.
#[tool(category = "simple_python")]
pub async fn solve_quadratic(
    /// The coefficient of the squared term in the quadratic equation.
    a: i64,
    /// The coefficient of the linear term in the quadratic equation.
    b: i64,
    /// The constant term in the quadratic equation.
    c: i64,
    /// The type of roots to return: 'real' for real roots, 'all' for both real and complex roots. Default value is 'real'.
    root_type: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&solve_quadratic { a, b, c, root_type })
}

/// Function solves the quadratic equation and returns its roots.
#[tool(category = "simple_python")]
pub async fn solve_quadratic_equation(
    /// Coefficient of x squared
    a: i64,
    /// Coefficient of x
    b: i64,
    /// Constant term in the quadratic equation.
    c: i64,
) -> Result<Arrived, ToolError> {
    arrived(&solve_quadratic_equation { a, b, c })
}

/// Solve a quadratic equation with given coefficients a, b, and c.
#[tool(category = "multiple")]
pub async fn solve_quadratic_equation_2(
    /// Coefficient of x^2.
    a: i64,
    /// Coefficient of x.
    b: i64,
    /// Constant term.
    c: i64,
) -> Result<Arrived, ToolError> {
    arrived(&solve_quadratic_equation_2 { a, b, c })
}

/// Compares a team's average points per game in two different seasons.
#[tool(category = "parallel_multiple")]
pub async fn sport_analysis_compare_ppg(
    /// The sports team that needs to be compared.
    team: String,
    /// The seasons that you want to compare the ppg.
    seasons: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&sport_analysis_compare_ppg { team, seasons })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum SportsDbFindAthleteSport {
    Basketball,
    Baseball,
    Football,
    Soccer,
}

/// Find the profile information of a sports athlete based on their full name.
#[tool(category = "simple_python")]
pub async fn sports_db_find_athlete(
    /// The full name of the athlete.
    name: String,
    /// The team the athlete belongs to. Default to all teams if not specified.
    team: Option<String>,
    /// The sport that athlete plays.
    sport: SportsDbFindAthleteSport,
) -> Result<Arrived, ToolError> {
    arrived(&sports_db_find_athlete { name, team, sport })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum SportsDbFindAthlete2Sport {
    Basketball,
    Baseball,
    Football,
    Soccer,
}

/// Find the profile information of a sports athlete based on their full name.
#[tool(category = "multiple")]
pub async fn sports_db_find_athlete_2(
    /// The full name of the athlete.
    name: String,
    /// The team the athlete belong to. Default is ''
    team: Option<String>,
    /// The sport that athlete plays.
    sport: SportsDbFindAthlete2Sport,
) -> Result<Arrived, ToolError> {
    arrived(&sports_db_find_athlete_2 { name, team, sport })
}

/// Get the ranking of a team in a given sports league and season.
#[tool(category = "simple_python")]
pub async fn sports_ranking(
    /// The name of the team.
    team: String,
    /// The name of the sports league.
    league: String,
    /// The season for which ranking needs to be obtained.
    season: String,
) -> Result<Arrived, ToolError> {
    arrived(&sports_ranking { team, league, season })
}

/// Fetch the ranking of a specific sports team in a specific league
#[tool(category = "multiple")]
pub async fn sports_ranking_2(
    /// The name of the team.
    team: String,
    /// The name of the league.
    league: String,
    /// Optional parameter to specify the season, default is the current season, 2024
    season: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&sports_ranking_2 { team, league, season })
}
