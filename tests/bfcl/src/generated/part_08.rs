// Written by `cargo run -p bfcl-gen`, do not edit.

//! From `sports_ranking_get_current` to `whole_foods_order`.

use tool_core::prelude::*;

use crate::arrived::{Arrived, arrived};

/// Retrieve the current ranking of a specific team in a particular league.
#[tool(category = "simple_python")]
pub async fn sports_ranking_get_current(
    /// The name of the team whose ranking is sought.
    team: String,
    /// The league in which the team participates.
    league: String,
    /// The season for which the ranking is sought. Defaults to the current season '2023-2024' if not provided.
    season: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&sports_ranking_get_current { team, league, season })
}

/// Retrieve a team's position and stats in the basketball league for a given season.
#[tool(category = "simple_python")]
pub async fn sports_ranking_get_team_position(
    /// The name of the team.
    team: String,
    /// The season for which data should be fetched.
    season: String,
    /// Flag to retrieve detailed stats or just the position.
    #[arg(default = false)]
    detailed: bool,
) -> Result<Arrived, ToolError> {
    arrived(&sports_ranking_get_team_position { team, season, detailed })
}

/// Fetches the schedule of the specified sports team for the specified number of games in the given league.
#[tool(category = "simple_python")]
pub async fn sports_team_get_schedule(
    /// The name of the sports team.
    team_name: String,
    /// Number of games for which to fetch the schedule.
    num_of_games: i64,
    /// The name of the sports league. If not provided, the function will fetch the schedule for all games, regardless of the league.
    league: String,
    /// Optional. The city or venue where games are to be held. If not provided, default that all venues will be considered.
    location: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&sports_team_get_schedule { team_name, num_of_games, league, location })
}

/// Fetches the schedule of the specified sports team for the specified number of games in the given league.
#[tool(category = "parallel_multiple")]
pub async fn sports_team_get_schedule_2(
    /// The name of the sports team.
    team_name: String,
    /// Number of games for which to fetch the schedule.
    num_of_games: i64,
    /// The name of the sports league. If not provided, the function will fetch the schedule for all games, regardless of the league.
    league: String,
    /// Optional. The city or venue where games are to be held. If not provided, all venues will be considered by default.
    location: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&sports_team_get_schedule_2 { team_name, num_of_games, league, location })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum StockPriceGetExchange {
    #[serde(rename = "NYSE")]
    Nyse,
    #[serde(rename = "NASDAQ")]
    Nasdaq,
    #[serde(rename = "AMEX")]
    Amex,
    #[serde(rename = "TSX")]
    Tsx,
    #[serde(rename = "LSE")]
    Lse,
}

/// Retrieves the current stock price for a given ticker symbol from a specified exchange.
#[tool(category = "live_multiple")]
pub async fn stock_price_get(
    /// The unique ticker or stock symbol used to represent a public company on a stock exchange.
    ticker: String,
    /// The stock exchange where the ticker is listed, such as 'NYSE' or 'NASDAQ'.
    exchange: StockPriceGetExchange,
    /// The date for which to retrieve the stock price, in the format 'YYYY-MM-DD'. Defaults to the most recent trading day if not specified.
    date: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&stock_price_get { ticker, exchange, date })
}

/// Subtracts the second integer from the first integer and returns the result.
#[tool(category = "live_multiple")]
pub async fn sub(
    /// The minuend, an integer from which another integer (subtrahend) is to be subtracted.
    a: i64,
    /// The subtrahend, an integer to be subtracted from the first integer (minuend).
    b: i64,
) -> Result<Arrived, ToolError> {
    arrived(&sub { a, b })
}

/// Calculates the sum of two integers.
#[tool(category = "live_parallel_multiple")]
pub async fn sum(
    /// The first integer to be added.
    a: i64,
    /// The second integer to be added.
    b: i64,
) -> Result<Arrived, ToolError> {
    arrived(&sum { a, b })
}

/// This method queries for a paginated list of role counts, where each role's count represents the number of users associated with that role.
#[tool(category = "simple_java")]
pub async fn sys_role_controller_query_page_role_count(
    /// The number of the page to retrieve (optional, defaults to 1).
    #[arg(rename = "pageNo")]
    page_no: i64,
    /// The number of records per page (optional, defaults to 10).
    #[arg(rename = "pageSize")]
    page_size: i64,
) -> Result<Arrived, ToolError> {
    arrived(&sys_role_controller_query_page_role_count { page_no, page_size })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum TelemetryFlowrulesInterfaceInfoGetInterfaceType {
    #[serde(rename = "svi")]
    Svi,
    #[serde(rename = "ethernet")]
    Ethernet,
    #[serde(rename = "loopback")]
    Loopback,
    #[serde(rename = "port-channel")]
    PortChannel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum TelemetryFlowrulesInterfaceInfoGetInfoType {
    #[serde(rename = "interfaces")]
    Interfaces,
    #[serde(rename = "status")]
    Status,
    #[serde(rename = "statistics")]
    Statistics,
    #[serde(rename = "errors")]
    Errors,
}

/// Retrieves specified telemetry information for a network interface within a given fabric, node, and pod, filtered by the interface and information types.
#[tool(category = "live_simple")]
pub async fn telemetry_flowrules_interface_info_get(
    /// The name of the fabric to limit the nodes pertaining to the given fabric name.
    #[arg(rename = "fabricName")]
    fabric_name: String,
    /// The identifier of the node to limit the results pertaining to the given node ID.
    #[arg(rename = "nodeId")]
    node_id: i64,
    /// The identifier of the pod to limit the results pertaining to the given pod ID.
    #[arg(rename = "podId")]
    pod_id: i64,
    /// The type of the interface to limit the results pertaining to the given interface type.
    #[arg(rename = "interfaceType")]
    interface_type: TelemetryFlowrulesInterfaceInfoGetInterfaceType,
    /// The type of information to retrieve about the interface.
    #[arg(rename = "infoType")]
    info_type: TelemetryFlowrulesInterfaceInfoGetInfoType,
) -> Result<Arrived, ToolError> {
    arrived(&telemetry_flowrules_interface_info_get { fabric_name, node_id, pod_id, interface_type, info_type })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum TemperatureUnits {
    Celsius,
    Fahrenheit,
    Kelvin,
}

/// Return the current temperature for a specified location.
#[tool(category = "live_simple")]
pub async fn temperature(
    /// The location for which the temperature is requested, in the format of 'City, Country', (e.g., 'Beijing, China').
    location: String,
    /// The unit of temperature measurement.
    #[arg(default = "Celsius")]
    units: TemperatureUnits,
    /// The desired time for the temperature reading in ISO 8601 format (e.g., '2023-04-12T14:00:00Z'). If not provided, the current temperature is returned.
    time: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&temperature { location, units, time })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnectBodyAirConJobMode {
    #[serde(rename = "AIR_CLEAN")]
    AirClean,
    #[serde(rename = "COOL")]
    Cool,
    #[serde(rename = "AIR_DRY")]
    AirDry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnectBodyWindStrength {
    #[serde(rename = "LOW")]
    Low,
    #[serde(rename = "HIGH")]
    High,
    #[serde(rename = "MID")]
    Mid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnectBodyAirCleanOperationMode {
    #[serde(rename = "POWER_ON")]
    PowerOn,
    #[serde(rename = "POWER_OFF")]
    PowerOff,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct ThinQConnectBody {
    /// The current job mode of the air conditioner.
    #[serde(rename = "airConJobMode")]
    #[schema(default = "COOL")]
    pub air_con_job_mode: ThinQConnectBodyAirConJobMode,
    /// The strength of the air flow.
    #[serde(rename = "windStrength")]
    #[schema(default = "MID")]
    pub wind_strength: ThinQConnectBodyWindStrength,
    /// Flag to enable or disable air quality monitoring.
    #[serde(rename = "monitoringEnabled")]
    #[schema(default = false)]
    pub monitoring_enabled: bool,
    /// The operation mode for air cleaning.
    #[serde(rename = "airCleanOperationMode")]
    #[schema(default = "POWER_OFF")]
    pub air_clean_operation_mode: ThinQConnectBodyAirCleanOperationMode,
    /// Flag to enable or disable power-saving mode.
    #[serde(rename = "powerSaveEnabled")]
    #[schema(default = false)]
    pub power_save_enabled: bool,
    /// The target temperature for cooling in degrees Celsius. Valid values range from 18 to 30.
    #[serde(rename = "coolTargetTemperature")]
    #[schema(default = 24)]
    pub cool_target_temperature: i64,
    /// The general target temperature in degrees Celsius. Valid values range from 18 to 30.
    #[serde(rename = "targetTemperature")]
    #[schema(default = 22)]
    pub target_temperature: i64,
}

/// Send a command to control an LG ThinQ appliance, such as an air conditioner, by setting various operation modes and target settings.
#[tool(category = "live_simple")]
pub async fn thin_q_connect(
    /// A dictionary containing the settings and modes to control the LG ThinQ appliance.
    body: ThinQConnectBody,
) -> Result<Arrived, ToolError> {
    arrived(&thin_q_connect { body })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnect2BodyCurrentJobMode {
    #[serde(rename = "AIR_CLEAN")]
    AirClean,
    #[serde(rename = "COOL")]
    Cool,
    #[serde(rename = "AIR_DRY")]
    AirDry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnect2BodyWindStrength {
    #[serde(rename = "LOW")]
    Low,
    #[serde(rename = "HIGH")]
    High,
    #[serde(rename = "MID")]
    Mid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnect2BodyAirCleanOperationMode {
    #[serde(rename = "START")]
    Start,
    #[serde(rename = "STOP")]
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnect2BodyAirConOperationMode {
    #[serde(rename = "POWER_ON")]
    PowerOn,
    #[serde(rename = "POWER_OFF")]
    PowerOff,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct ThinQConnect2Body {
    /// The current mode of operation for the air conditioner.
    #[serde(rename = "currentJobMode")]
    #[schema(default = "COOL")]
    pub current_job_mode: ThinQConnect2BodyCurrentJobMode,
    /// The strength level of the airflow.
    #[serde(rename = "windStrength")]
    #[schema(default = "MID")]
    pub wind_strength: ThinQConnect2BodyWindStrength,
    /// Flag to enable or disable air quality sensor monitoring.
    #[serde(rename = "monitoringEnabled")]
    #[schema(default = false)]
    pub monitoring_enabled: bool,
    /// The operation mode for the air cleaning process.
    #[serde(rename = "airCleanOperationMode")]
    #[schema(default = "STOP")]
    pub air_clean_operation_mode: ThinQConnect2BodyAirCleanOperationMode,
    /// The operation mode for turning the air conditioner on or off.
    #[serde(rename = "airConOperationMode")]
    #[schema(default = "POWER_OFF")]
    pub air_con_operation_mode: ThinQConnect2BodyAirConOperationMode,
    /// Flag to enable or disable power-saving mode.
    #[serde(rename = "powerSaveEnabled")]
    #[schema(default = false)]
    pub power_save_enabled: bool,
    /// The target temperature for cooling mode in degrees Celsius. Value must be between 18 and 30.
    #[serde(rename = "coolTargetTemperature")]
    #[schema(default = 24)]
    pub cool_target_temperature: i64,
    /// The general target temperature in degrees Celsius. Value must be between 18 and 30.
    #[serde(rename = "targetTemperature")]
    #[schema(default = 22)]
    pub target_temperature: i64,
}

/// Send a command to control an appliance, such as setting operation modes, air flow strength, and target temperatures.
#[tool(category = "live_simple")]
pub async fn thin_q_connect_2(
    /// A dictionary containing various control parameters for the appliance.
    body: ThinQConnect2Body,
) -> Result<Arrived, ToolError> {
    arrived(&thin_q_connect_2 { body })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnect3AirConJobMode {
    #[serde(rename = "AIR_CLEAN")]
    AirClean,
    #[serde(rename = "COOL")]
    Cool,
    #[serde(rename = "AIR_DRY")]
    AirDry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnect3WindStrength {
    #[serde(rename = "LOW")]
    Low,
    #[serde(rename = "HIGH")]
    High,
    #[serde(rename = "MID")]
    Mid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnect3AirCleanOperationMode {
    #[serde(rename = "START")]
    Start,
    #[serde(rename = "STOP")]
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ThinQConnect3AirConOperationMode {
    #[serde(rename = "POWER_ON")]
    PowerOn,
    #[serde(rename = "POWER_OFF")]
    PowerOff,
}

/// Sends a command to control an appliance, allowing the adjustment of various settings such as job modes, airflow, and temperature.
#[tool(category = "live_simple")]
pub async fn thin_q_connect_3(
    /// The current job mode of the air conditioner.
    #[arg(rename = "airConJobMode")]
    air_con_job_mode: ThinQConnect3AirConJobMode,
    /// The strength of the air flow.
    #[arg(rename = "windStrength")]
    wind_strength: ThinQConnect3WindStrength,
    /// A flag to enable or disable air quality sensor monitoring.
    #[arg(rename = "monitoringEnabled")]
    monitoring_enabled: bool,
    /// The operation mode for the air cleaning process.
    #[arg(rename = "airCleanOperationMode")]
    air_clean_operation_mode: ThinQConnect3AirCleanOperationMode,
    /// The operation mode of the air conditioner itself.
    #[arg(rename = "airConOperationMode")]
    air_con_operation_mode: ThinQConnect3AirConOperationMode,
    /// A flag to enable or disable power-saving mode.
    #[arg(rename = "powerSaveEnabled")]
    power_save_enabled: bool,
    /// The target temperature to set for the air conditioner, in degrees Celsius.
    #[arg(rename = "targetTemperature")]
    target_temperature: i64,
) -> Result<Arrived, ToolError> {
    arrived(&thin_q_connect_3 { air_con_job_mode, wind_strength, monitoring_enabled, air_clean_operation_mode, air_con_operation_mode, power_save_enabled, target_temperature })
}

/// This tool belongs to the ticketing system that is part of a company, which allows users to create, view, and manage support business tickets. Tool description: Authenticate a user for ticket system.
#[tool(category = "multi_turn_base")]
pub async fn ticket_login(
    /// Username of the user.
    username: String,
    /// Password of the user.
    password: String,
) -> Result<Arrived, ToolError> {
    arrived(&ticket_login { username, password })
}

/// Adds a new item to the to-do list for tracking and further processing.
#[tool(category = "live_simple")]
pub async fn todo_add(
    /// The text description of the to-do item.
    content: String,
) -> Result<Arrived, ToolError> {
    arrived(&todo_add { content })
}

/// Calculate the total revenue of a company over a specific period of time
#[tool(category = "parallel_multiple")]
pub async fn total_revenue(
    /// Name of the company to get data for
    company: String,
    /// Number of past days to calculate total revenue for
    days: i64,
    /// Source to fetch the financial data. default is 'google finance'
    data_source: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&total_revenue { company, days, data_source })
}

/// This tool belongs to the Gorilla file system. It is a simple file system that allows users to perform basic file operations such as navigating directories, creating files and directories, reading and writing to files, etc. Tool description: Create a new file of any extension in the current directory.
#[tool(category = "multi_turn_base")]
pub async fn touch(
    /// The name of the new file in the current directory. file_name is local to the current directory and does not allow path.
    file_name: String,
) -> Result<Arrived, ToolError> {
    arrived(&touch { file_name })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Trains1FindTrainsClass {
    Value,
    Flexible,
    Business,
}

/// Finds available train options for a specified route on a given date, allowing users to select a preferred travel class.
#[tool(category = "live_multiple")]
pub async fn trains_1_find_trains(
    /// The city where the train journey will start. Eg: 'Berkeley, CA'. State names must be abbreviated.
    #[arg(rename = "_from")]
    from: String,
    /// The destination city for the train journey. Eg: 'Berkeley, CA'. State names must be abbreviated.
    to: String,
    /// The date of the train journey, in the format of 'YYYY-MM-DD'.
    date_of_journey: String,
    /// The fare class for the train reservation.
    #[arg(rename = "_class", default = "Value")]
    class: Trains1FindTrainsClass,
    /// The number of adults to reserve train tickets for.
    #[arg(default = 1)]
    number_of_adults: i64,
) -> Result<Arrived, ToolError> {
    arrived(&trains_1_find_trains { from, to, date_of_journey, class, number_of_adults })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Trains1FindTrains2Class {
    Value,
    Flexible,
    Business,
}

/// Find trains going to a specified destination city on a given date, with options for fare class and number of adult passengers.
#[tool(category = "live_multiple")]
pub async fn trains_1_find_trains_2(
    /// Starting city for the train journey, in the format of 'City, State', such as 'San Francisco, CA'.
    #[arg(rename = "_from")]
    from: String,
    /// Destination city for the train journey, in the format of 'City, State', such as 'Los Angeles, CA'.
    to: String,
    /// Date of the train journey, in the format 'YYYY-MM-DD', such as '2023-04-15'.
    date_of_journey: String,
    /// Fare class for the train reservation.
    #[arg(rename = "_class", default = "Value")]
    class: Trains1FindTrains2Class,
    /// Number of adult passengers to reserve train tickets for.
    #[arg(default = 1)]
    number_of_adults: i64,
) -> Result<Arrived, ToolError> {
    arrived(&trains_1_find_trains_2 { from, to, date_of_journey, class, number_of_adults })
}

/// This function facilitates the handover of a chat conversation from a virtual assistant to a human agent, ensuring the user receives appropriate assistance for complex issues that require human intervention.
#[tool(category = "live_multiple")]
pub async fn transfer_to_human_agent(
    /// A message provided by the user that describes the issue they are facing, which prompts the handover to a human agent.
    statement: String,
) -> Result<Arrived, ToolError> {
    arrived(&transfer_to_human_agent { statement })
}

/// Translates a given text from one language to another
#[tool(category = "parallel_multiple")]
pub async fn translate_text(
    /// The text that needs to be translated
    text: String,
    /// The source language from which to translate
    from_lang: String,
    /// The target language to which to translate
    to_lang: String,
) -> Result<Arrived, ToolError> {
    arrived(&translate_text { text, from_lang, to_lang })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum TtsToolSpeaker {
    #[serde(rename = "male")]
    Male,
    #[serde(rename = "female")]
    Female,
    #[serde(rename = "bria")]
    Bria,
    #[serde(rename = "alex")]
    Alex,
}

/// Converts the provided text content to speech and saves the resulting audio to a file. This function is intended for voice narration and should be used accordingly.
#[tool(category = "live_multiple")]
pub async fn tts_tool(
    /// The text content that needs to be converted to speech.
    content: String,
    /// The voice to be used for the text-to-speech conversion.
    #[arg(default = "female")]
    speaker: TtsToolSpeaker,
    /// The name of the file to save the audio output without the extension. If left empty, a default name will be generated based on the content.
    #[arg(default = "")]
    file_name: String,
) -> Result<Arrived, ToolError> {
    arrived(&tts_tool { content, speaker, file_name })
}

/// Place an order for food from selected restaurants with specified items and their quantities.
#[tool(category = "live_simple")]
pub async fn uber_eat_order(
    /// The name of the restaurant from which the user wants to order food. Use the exact name as registered on Uber Eats.
    restaurants: String,
    /// A list of item names that the user wants to order from the restaurant.
    items: Vec<String>,
    /// A list of integers, each representing the quantity of the corresponding item in the order. The quantities should align with the items list by index.
    quantities: Vec<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&uber_eat_order { restaurants, items, quantities })
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct UberEatOrder2Items {
    /// The unique identifier of the item to order.
    pub item: Option<String>,
    /// The number of this item to order.
    pub quantity: Option<i64>,
}

/// Places an order for food from Uber Eats, specifying the chosen restaurant, items to order, and their quantities.
#[tool(category = "live_multiple")]
pub async fn uber_eat_order_2(
    /// The unique identifier of the chosen restaurant.
    restaurant_id: String,
    /// A list of items to order, each with an item identifier and quantity.
    items: Vec<UberEatOrder2Items>,
) -> Result<Arrived, ToolError> {
    arrived(&uber_eat_order_2 { restaurant_id, items })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum UberRideType {
    #[serde(rename = "plus")]
    Plus,
    #[serde(rename = "comfort")]
    Comfort,
    #[serde(rename = "black")]
    Black,
}

/// Tìm chuyến đi phù hợp cho khách hàng dựa trên vị trí, loại chuyến đi và khoảng thời gian khách hàng sẵn sàng chờ đợi làm thông số'
#[tool(category = "live_simple")]
pub async fn uber_ride(
    /// The starting location of the Uber ride in the format of 'Address, City, State'. For example, '123 Main St, Springfield, IL'.
    loc: String,
    /// The type of Uber ride the user is requesting.
    r#type: UberRideType,
    /// The maximum amount of time the customer is willing to wait for the ride, in minutes.
    time: i64,
) -> Result<Arrived, ToolError> {
    arrived(&uber_ride { loc, r#type, time })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum UberRide2Type {
    #[serde(rename = "plus")]
    Plus,
    #[serde(rename = "comfort")]
    Comfort,
    #[serde(rename = "black")]
    Black,
}

/// Find a suitable Uber ride for customers based on their location, selected ride type, and maximum wait time.
#[tool(category = "live_multiple")]
pub async fn uber_ride_2(
    /// The starting location for the Uber ride, in the format of 'Address, City, State'.
    loc: String,
    /// The type of Uber ride the user is requesting.
    r#type: UberRide2Type,
    /// The maximum amount of time, in minutes, the customer is willing to wait for the ride.
    time: i64,
) -> Result<Arrived, ToolError> {
    arrived(&uber_ride_2 { loc, r#type, time })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum UsHistoryGetEventInfoSpecificInfo {
    #[serde(rename = "Start Date")]
    StartDate,
    #[serde(rename = "End Date")]
    EndDate,
    Participants,
    Result,
    #[serde(rename = "Notable Figures")]
    NotableFigures,
    #[serde(rename = "Importance in History")]
    ImportanceInHistory,
}

/// Retrieve detailed information about a significant event in U.S. history.
#[tool(category = "simple_python")]
pub async fn us_history_get_event_info(
    /// The name of the event.
    event_name: String,
    /// Specific aspect of information related to event.
    specific_info: UsHistoryGetEventInfoSpecificInfo,
) -> Result<Arrived, ToolError> {
    arrived(&us_history_get_event_info { event_name, specific_info })
}

/// Retrieves the average life expectancy of the USA for a specific year.
#[tool(category = "parallel_multiple")]
pub async fn us_history_life_expectancy(
    /// The year for which to retrieve life expectancy.
    year: i64,
) -> Result<Arrived, ToolError> {
    arrived(&us_history_life_expectancy { year })
}

/// Retrieve the number of hosts counted for a specified day, month, and year.
#[tool(category = "live_multiple")]
pub async fn usage_api_usage_api_get_hosts_per_day(
    /// The day of the month for which the host count is requested. Valid values are from 1 to 31, depending on the month.
    day: i64,
    /// The month of the year for which the host count is requested. Valid values are from 1 (January) to 12 (December).
    month: i64,
    /// The year for which the host count is requested. Should be a four-digit number, such as 2023.
    year: i64,
) -> Result<Arrived, ToolError> {
    arrived(&usage_api_usage_api_get_hosts_per_day { day, month, year })
}

/// Locate nearby vegan restaurants based on specific criteria like operating hours.
#[tool(category = "simple_python")]
pub async fn vegan_restaurant_find_nearby(
    /// The city and state, e.g. New York, NY, you should format it as City, State.
    location: String,
    /// Preferred latest closing time of the restaurant. E.g. if 11 is given, then restaurants that close at or after 11 PM will be considered. This is in 24 hour format. Default is 24.
    operating_hours: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&vegan_restaurant_find_nearby { location, operating_hours })
}

/// Retrieve the current version information of the application, including the application name and its version number.
#[tool(category = "live_multiple")]
pub async fn version_api_version_api_get_version() -> Result<Arrived, ToolError> {
    arrived(&version_api_version_api_get_version {})
}

/// Retrieve the current version of the application, including its name and version number, formatted in JSON.
#[tool(category = "live_multiple")]
pub async fn version_api_version_api_get_version_2() -> Result<Arrived, ToolError> {
    arrived(&version_api_version_api_get_version_2 {})
}

/// Retrieve the application's name and its current version as a JSON object.
#[tool(category = "live_multiple")]
pub async fn version_api_version_api_get_version_3() -> Result<Arrived, ToolError> {
    arrived(&version_api_version_api_get_version_3 {})
}

/// Retrieve the application's name and its current version as a JSON object.
#[tool(category = "live_multiple")]
pub async fn version_api_version_api_get_version_4() -> Result<Arrived, ToolError> {
    arrived(&version_api_version_api_get_version_4 {})
}

/// Retrieves the number of active players for a specified video game and year.
#[tool(category = "multiple")]
pub async fn video_games_get_player_count(
    /// The title of the video game.
    game_title: String,
    /// The year in question.
    year: i64,
    /// The gaming platform (e.g. 'PC', 'Xbox', 'Playstation'). Default ''
    platform: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&video_games_get_player_count { game_title, year, platform })
}

/// Retrieves the number of active players for a specified video game and year.
#[tool(category = "parallel_multiple")]
pub async fn video_games_get_player_count_2(
    /// The title of the video game.
    game_title: String,
    /// The year in question.
    year: i64,
    /// The gaming platform (e.g. 'PC', 'Xbox', 'Playstation'). Default is all if not specified.
    platform: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&video_games_get_player_count_2 { game_title, year, platform })
}

/// Retrieves the sales figures for a specified video game and year.
#[tool(category = "parallel_multiple")]
pub async fn video_games_get_sales(
    /// The title of the video game.
    game_title: String,
    /// The year in question.
    year: i64,
    /// The gaming platform (e.g. 'PC', 'Xbox', 'Playstation'). Default is all if not specified.
    platform: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&video_games_get_sales { game_title, year, platform })
}

/// Checks if a particular game is currently on sale in a specific gaming platform store and in a specific region.
#[tool(category = "parallel_multiple")]
pub async fn video_games_on_sale(
    /// The title of the video game
    game_title: String,
    /// The gaming platform e.g. PlayStation, Xbox, Nintendo Switch
    platform: String,
    /// The region e.g. United States, United Kingdom, Japan. Default United States
    region: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&video_games_on_sale { game_title, platform, region })
}

/// Fetches the selling price of a specified game in a particular gaming platform store and in a specific region.
#[tool(category = "multiple")]
pub async fn video_games_store_price(
    /// The title of the video game
    game_title: String,
    /// The gaming platform e.g. PlayStation, Xbox, Nintendo Switch
    platform: String,
    /// The region e.g. United States, United Kingdom, Japan. Default to United States
    region: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&video_games_store_price { game_title, platform, region })
}

/// Retrieve and display the profile details of a specific service provider by using their unique identifier.
#[tool(category = "live_multiple")]
pub async fn view_service_provider_profile(
    /// The unique identifier for a service provider.
    professional_id: i64,
) -> Result<Arrived, ToolError> {
    arrived(&view_service_provider_profile { professional_id })
}

/// Generates a predicate that checks if a Join object represents a full master node with a state that is older than the provided local accepted term and version.
#[tool(category = "simple_java", allow(tool-name-client))]
pub async fn voting_only_node_plugin_full_master_with_older_state(
    /// The local node's accepted term.
    #[arg(rename = "localAcceptedTerm")]
    local_accepted_term: i64,
    /// The local node's accepted version.
    #[arg(rename = "localAcceptedVersion")]
    local_accepted_version: i64,
) -> Result<Arrived, ToolError> {
    arrived(&voting_only_node_plugin_full_master_with_older_state { local_accepted_term, local_accepted_version })
}

/// Retrieve information of items from Walmart including stock availability.
#[tool(category = "parallel_multiple")]
pub async fn walmart_purchase(
    /// Location of the nearest Walmart.
    loc: String,
    /// Items to be purchased listed in an array.
    product_list: Vec<String>,
    /// Size of the product pack if applicable. The size of the array should be equal to product_list. Default is 1.
    pack_size: Option<Vec<i64>>,
) -> Result<Arrived, ToolError> {
    arrived(&walmart_purchase { loc, product_list, pack_size })
}

/// This tool belongs to the Gorilla file system. It is a simple file system that allows users to perform basic file operations such as navigating directories, creating files and directories, reading and writing to files, etc. Tool description: Count the number of lines, words, and characters in a file of any extension from current directory.
#[tool(category = "multi_turn_base")]
pub async fn wc(
    /// Name of the file of current directory to perform wc operation on.
    file_name: String,
    /// Mode of operation ('l' for lines, 'w' for words, 'c' for characters).
    #[arg(default = "l")]
    mode: String,
) -> Result<Arrived, ToolError> {
    arrived(&wc { file_name, mode })
}

/// Retrieve a humidity forecast for a specific location for a certain number of days.
#[tool(category = "parallel_multiple")]
pub async fn weather_forecast_humidity(
    /// The city that you want to get the humidity forecast for.
    location: String,
    /// Number of days for the forecast.
    days: i64,
) -> Result<Arrived, ToolError> {
    arrived(&weather_forecast_humidity { location, days })
}

/// Retrieves the historical weather data based on city and date.
#[tool(category = "parallel_multiple")]
pub async fn weather_get_by_city_date(
    /// The city for which to retrieve the weather.
    city: String,
    /// The date for which to retrieve the historical weather data in the format YYYY-MM-DD.
    #[arg(format = "date")]
    date: String,
) -> Result<Arrived, ToolError> {
    arrived(&weather_get_by_city_date { city, date })
}

/// Retrieves the historical weather data based on coordinates and date.
#[tool(category = "multiple")]
pub async fn weather_get_by_coordinates_date(
    /// The geographical coordinates for which to retrieve the weather. The first element of the tuple is the latitude and the second is the longitude.
    coordinates: Vec<f64>,
    /// The date for which to retrieve the historical weather data in the format YYYY-MM-DD.
    #[arg(format = "date")]
    date: String,
) -> Result<Arrived, ToolError> {
    arrived(&weather_get_by_coordinates_date { coordinates, date })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum WholeFoodsOrderSize {
    #[serde(rename = "small")]
    Small,
    #[serde(rename = "medium")]
    Medium,
    #[serde(rename = "large")]
    Large,
}

/// Order food from Whole Foods
#[tool(category = "parallel")]
pub async fn whole_foods_order(
    /// Location of Whole Foods.
    location: String,
    /// List of items to order.
    items: Vec<String>,
    /// Size of the order.
    size: WholeFoodsOrderSize,
) -> Result<Arrived, ToolError> {
    arrived(&whole_foods_order { location, items, size })
}
