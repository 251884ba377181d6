// Written by `cargo run -p bfcl-gen`, do not edit.

//! From `acl_api_add_mapping` to `calculate_displacement`.

use serde_repr::{Deserialize_repr, Serialize_repr};
use tool_core::prelude::*;

use crate::arrived::{Arrived, arrived};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum AclApiAddMappingPermissions {
    #[serde(rename = "read")]
    Read,
    #[serde(rename = "write")]
    Write,
    #[serde(rename = "delete")]
    Delete,
    #[serde(rename = "admin")]
    Admin,
}

/// Adds an Access Control List (ACL) mapping to define permissions for a user or group.
#[tool(category = "live_multiple")]
pub async fn acl_api_add_mapping(
    /// The unique identifier for the user or group.
    principal_id: String,
    /// The unique identifier of the resource for which access is being defined.
    resource_id: String,
    /// The level of access being granted.
    permissions: AclApiAddMappingPermissions,
) -> Result<Arrived, ToolError> {
    arrived(&acl_api_add_mapping { principal_id, resource_id, permissions })
}

/// Adds an Access Control List (ACL) mapping to define permissions for users or groups on specified resources.
#[tool(category = "live_multiple")]
pub async fn acl_api_add_mapping_2(
    /// The unique identifier for the resource to which the ACL mapping will be applied.
    resource_id: String,
    /// The unique identifier of the user or group that the ACL mapping will be associated with.
    user_id: String,
    /// A list of permission strings that define the access level for the user or group on the resource.
    permissions: Vec<String>,
    /// The expiration date for the ACL mapping in the format 'YYYY-MM-DD'. Optional, defaults to null which indicates no expiration.
    expiry_date: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&acl_api_add_mapping_2 { resource_id, user_id, permissions, expiry_date })
}

/// This tool belongs to the vehicle control system, which allows users to control various aspects of the car such as engine, doors, climate control, lights, and more. Tool description: Activates the parking brake of the vehicle.
#[tool(category = "multi_turn_base")]
pub async fn activate_parking_brake(
    /// The mode to set. [Enum]: ["engage", "release"]
    mode: String,
) -> Result<Arrived, ToolError> {
    arrived(&activate_parking_brake { mode })
}

/// Performs the addition of two integers and returns the result.
#[tool(category = "live_multiple")]
pub async fn add(
    /// The first integer to be added.
    a: i64,
    /// The second integer to be added.
    b: i64,
) -> Result<Arrived, ToolError> {
    arrived(&add { a, b })
}

/// This tool belongs to the Message API, which is used to manage user interactions in a workspace. Tool description: Add a contact to the workspace.
#[tool(category = "multi_turn_base")]
pub async fn add_contact(
    /// User name of contact to be added.
    user_name: String,
) -> Result<Arrived, ToolError> {
    arrived(&add_contact { user_name })
}

/// Add a new PostgreSQL server configuration to the environment allowing the application to connect to it.
#[tool(category = "live_multiple")]
pub async fn add_postgres_server(
    /// A unique and recognizable name to identify the PostgreSQL server.
    nickname: String,
    /// The network address or domain of the PostgreSQL server.
    host: String,
    /// The network port that the PostgreSQL server is listening on.
    port: i64,
    /// The name of the default database to connect to.
    database: String,
    /// The username used to authenticate with the PostgreSQL server.
    username: String,
    /// The password used to authenticate with the PostgreSQL server. Must be provided for security reasons.
    password: String,
) -> Result<Arrived, ToolError> {
    arrived(&add_postgres_server { nickname, host, port, database, username, password })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum AdrielContactFormat {
    #[serde(rename = "json")]
    Json,
    #[serde(rename = "xml")]
    Xml,
    #[serde(rename = "csv")]
    Csv,
}

/// Retrieve the contact information for Adriel, including name, email, and phone number. If no contact_id is provided, the function returns the default contact information.
#[tool(category = "live_multiple")]
pub async fn adriel_contact(
    /// The unique identifier for the contact. If not specified, the default contact information will be retrieved.
    #[arg(default = 1)]
    contact_id: i64,
    /// The desired format for the returned contact information.
    #[arg(default = "json")]
    format: AdrielContactFormat,
) -> Result<Arrived, ToolError> {
    arrived(&adriel_contact { contact_id, format })
}

/// Retrieve the air quality index for a specific location.
#[tool(category = "simple_python")]
pub async fn air_quality(
    /// The city that you want to get the air quality index for.
    location: String,
    /// The date (month-day-year) you want to get the air quality index for.
    date: String,
) -> Result<Arrived, ToolError> {
    arrived(&air_quality { location, date })
}

/// Retrieve the air quality index for a specific location.
#[tool(category = "multiple")]
pub async fn air_quality_2(
    /// The city that you want to get the air quality index for.
    location: String,
    /// The date you want to get the air quality index for. Default is today.
    date: String,
) -> Result<Arrived, ToolError> {
    arrived(&air_quality_2 { location, date })
}

/// This function sets a new alarm with a specified time and an optional name.
#[tool(category = "live_multiple")]
pub async fn alarm_1_add_alarm(
    /// The time to set for the new alarm, in 24-hour format (HH:MM).
    new_alarm_time: String,
    /// The label to assign to the new alarm.
    #[arg(default = "New alarm")]
    new_alarm_name: String,
) -> Result<Arrived, ToolError> {
    arrived(&alarm_1_add_alarm { new_alarm_time, new_alarm_name })
}

/// Retrieves the analysis trail associated with a specified vulnerability within a component of a project.
#[tool(category = "live_multiple")]
pub async fn analysis_api_analysis_api_retrieve_analysis(
    /// The UUID of the project to which the analysis trail belongs.
    project: String,
    /// The UUID of the component within the project being analyzed.
    component: String,
    /// The UUID of the vulnerability for which the analysis trail is retrieved.
    vulnerability: String,
) -> Result<Arrived, ToolError> {
    arrived(&analysis_api_analysis_api_retrieve_analysis { project, component, vulnerability })
}

/// Predict the future population size of a specific species in a given country.
#[tool(category = "parallel_multiple")]
pub async fn animal_population_get_projection(
    /// The country of interest.
    country: String,
    /// Species of the animal.
    species: String,
    /// Number of years in the future to predict.
    years: i64,
) -> Result<Arrived, ToolError> {
    arrived(&animal_population_get_projection { country, species, years })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum AnswerQuestionUrgency {
    #[serde(rename = "low")]
    Low,
    #[serde(rename = "medium")]
    Medium,
    #[serde(rename = "high")]
    High,
}

/// This function transfers the chat interaction to a human agent when the automated system encounters a question that it cannot answer.
#[tool(category = "live_simple")]
pub async fn answer_question(
    /// The question posed by the user that needs to be transferred to a human agent.
    statement: String,
    /// The level of urgency for the question to be answered.
    #[arg(default = "medium")]
    urgency: AnswerQuestionUrgency,
    /// The language in which the question is asked, using ISO 639-1 codes (e.g., 'en' for English, 'es' for Spanish)
    #[arg(default = "en")]
    language: String,
) -> Result<Arrived, ToolError> {
    arrived(&answer_question { statement, urgency, language })
}

/// Parses the generated answer from a Large Language Model (LLM) and returns an empty string if the answer indicates that no answer was found.
#[tool(category = "live_simple")]
pub async fn answer_string(
    /// The response provided by the LLM in plain text. If the response contains the phrase 'answer not found', this function will return an empty string instead.
    answer: String,
) -> Result<Arrived, ToolError> {
    arrived(&answer_string { answer })
}

/// Parses the answer generated from a Language Learning Model (LLM) and checks for its validity. Returns an empty string if the LLM output is 'answer not found'.
#[tool(category = "live_simple")]
pub async fn answer_string_2(
    /// The text response from the LLM in plain text. This should be the raw output provided by the model.
    answer: String,
) -> Result<Arrived, ToolError> {
    arrived(&answer_string_2 { answer })
}

/// Retrieves detailed information about a specific trace from an application analysis system by trace ID. The response includes trace data up to a specified retrieval size, starting from a given offset. The data can be filtered based on the time of ingestion.
#[tool(category = "live_multiple")]
pub async fn application_analyze_api_get_trace_download(
    /// The unique identifier of the trace to retrieve.
    id: String,
    /// The maximum number of trace entries to retrieve.
    #[arg(rename = "retrievalSize", default = 100)]
    retrieval_size: i64,
    /// The offset from which to start retrieving trace entries.
    #[arg(default = 0)]
    offset: i64,
    /// The ingestion time to filter the trace data, formatted as an ISO 8601 timestamp, such as '2023-03-25T13:00:00Z'.
    #[arg(rename = "ingestionTime")]
    ingestion_time: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&application_analyze_api_get_trace_download { id, retrieval_size, offset, ingestion_time })
}

/// Prompt the user to enter the SSID when it is not known or provided.
#[tool(category = "live_simple")]
pub async fn ask_for_ssid(
    /// The message displayed to the user when asking for the SSID.
    prompt_message: String,
    /// The default SSID to be used if the user does not enter one.
    #[arg(default = "default_network")]
    default_ssid: String,
    /// The number of attempts a user has to enter the SSID before the function fails.
    #[arg(default = 3)]
    retry_attempts: i64,
    /// Whether the SSID input should be hidden for privacy. Set to true to hide the input.
    #[arg(default = false)]
    hide_input: bool,
) -> Result<Arrived, ToolError> {
    arrived(&ask_for_ssid { prompt_message, default_ssid, retry_attempts, hide_input })
}

/// Generate an audio signal given a frequency, amplitude, and duration.
#[tool(category = "parallel_multiple")]
pub async fn audio_generate(
    /// Frequency of the audio signal in Hz.
    frequency: i64,
    /// Amplitude of the audio signal.
    amplitude: f64,
    /// Duration of the audio signal in seconds. Default is 1 second if not specified.
    duration: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&audio_generate { frequency, amplitude, duration })
}

/// Retrieve a list of access log entries from the audit log. This function allows for paginated access and filtered queries based on criteria such as user ID, action type, and date range.
#[tool(category = "live_multiple")]
pub async fn audit_log_api_audit_log_api_get_access_logs(
    /// The starting point from which to return results, used for pagination. It specifies the offset of the first log entry to return.
    offset: i64,
    /// A query string to filter the access logs based on specific criteria, such as 'user_id:1001' to filter logs for user ID 1001 or 'action:login' for login events.
    #[arg(default = "")]
    query: String,
    /// The number of log entries to return in one call. Values must be between 1 and 100, inclusive.
    #[arg(rename = "pageSize")]
    page_size: i64,
    /// The start date from which to retrieve access logs, in the format of 'YYYY-MM-DD'. Logs will be fetched starting from 00:00:00 of this date.
    #[arg(rename = "startDate")]
    start_date: Option<String>,
    /// The end date until which to retrieve access logs, in the format of 'YYYY-MM-DD'. Logs will be fetched up to 23:59:59 of this date.
    #[arg(rename = "endDate")]
    end_date: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&audit_log_api_audit_log_api_get_access_logs { offset, query, page_size, start_date, end_date })
}

/// Get the average batting score of a cricketer for specified past matches.
#[tool(category = "simple_python")]
pub async fn average_batting_score(
    /// Name of the cricket player.
    player_name: String,
    /// Number of past matches to consider for average calculation.
    matches: i64,
    /// Format of the cricket matches considered (e.g., 'T20', 'ODI', 'Test'). Default is 'T20'.
    match_format: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&average_batting_score { player_name, matches, match_format })
}

/// Returns the average price for a particular product within a given city.
#[tool(category = "parallel_multiple")]
pub async fn average_price(
    /// The city where the product will be searched.
    city: String,
    /// The product for which the average price will be searched.
    product: String,
) -> Result<Arrived, ToolError> {
    arrived(&average_price { city, product })
}

/// Retrieves the average temperature for a specific location over the defined timeframe.
#[tool(category = "parallel")]
pub async fn average_temperature(
    /// The city to get the average temperature for.
    location: String,
    /// The number of days to get the average temperature for.
    days: i64,
    /// The temperature unit ('Celsius' or 'Fahrenheit'). Default is 'Fahrenheit'.
    temp_unit: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&average_temperature { location, days, temp_unit })
}

/// Retrieves the current security vulnerability metrics for a specified project and version.
#[tool(category = "live_multiple", allow(tool-name-client))]
pub async fn badge_api_badge_api_get_project_vulnerabilities_badge(
    /// The unique name identifier of the project for which to retrieve vulnerability metrics.
    name: String,
    /// The specific version of the project to query for current vulnerabilities.
    version: String,
) -> Result<Arrived, ToolError> {
    arrived(&badge_api_badge_api_get_project_vulnerabilities_badge { name, version })
}

/// Generates a badge image indicating the number of policy violations for a specified project and version.
#[tool(category = "live_multiple")]
pub async fn badge_api_get_project_policy_violations_badge1(
    /// The unique name of the project for which the badge is being requested.
    project_name: String,
    /// The specific version of the project to check for policy violations.
    project_version: String,
) -> Result<Arrived, ToolError> {
    arrived(&badge_api_get_project_policy_violations_badge1 { project_name, project_version })
}

/// Calculate the amount of interest accrued over a given time period.
#[tool(category = "parallel_multiple")]
pub async fn bank_account_calculate_interest(
    /// The initial amount of money.
    principal: f64,
    /// The annual interest rate as a decimal.
    rate: f64,
    /// The number of years the money is invested for.
    time: i64,
) -> Result<Arrived, ToolError> {
    arrived(&bank_account_calculate_interest { principal, rate, time })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum BankStatementOverViewAccountType {
    #[serde(rename = "checking")]
    Checking,
    #[serde(rename = "savings")]
    Savings,
    #[serde(rename = "credit")]
    Credit,
    #[serde(rename = "loan")]
    Loan,
    #[serde(rename = "investment")]
    Investment,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct BankStatementOverViewTransactionOverview {
    /// The total amount deposited in the account during the statement period, in dollars.
    pub total_deposits: Option<f64>,
    /// The total amount withdrawn from the account during the statement period, in dollars.
    pub total_withdrawals: Option<f64>,
    /// The starting date of the statement period, in the format 'YYYY-MM-DD'.
    pub start_date: Option<String>,
    /// The ending date of the statement period, in the format 'YYYY-MM-DD'.
    pub end_date: Option<String>,
}

/// Provides an overview of a bank statement, including account information and a summary of transactions for a specific period.
#[tool(category = "live_multiple")]
pub async fn bank_statement_over_view(
    /// The official name of the bank as it appears on the bank statement.
    bank_name: String,
    /// The unique identifier for the account, typically found at the top of the statement.
    account_number: String,
    /// The classification of the account, such as 'checking', 'savings', or 'credit'.
    account_type: BankStatementOverViewAccountType,
    /// The complete name of the account holder as recorded by the bank.
    full_name: String,
    /// A summary of transactions within the statement period, including totals and counts.
    transaction_overview: BankStatementOverViewTransactionOverview,
) -> Result<Arrived, ToolError> {
    arrived(&bank_statement_over_view { bank_name, account_number, account_type, full_name, transaction_overview })
}

/// Get current statistics for a specified basketball player
#[tool(category = "multiple")]
pub async fn basketball_player_stats_get(
    /// The name of the player.
    player_name: String,
    /// List of statistical categories to be fetched, including points, assists, rebounds, minutes.
    stats_fields: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&basketball_player_stats_get { player_name, stats_fields })
}

/// Get current statistics for a specific basketball team
#[tool(category = "parallel_multiple")]
pub async fn basketball_team_stats_get(
    /// The name of the team.
    team_name: String,
    /// List of statistical categories to be fetched, including total points, total assists, total rebounds, win rate.
    stats_fields: Vec<String>,
) -> Result<Arrived, ToolError> {
    arrived(&basketball_team_stats_get { team_name, stats_fields })
}

/// Modify the player's equipment level for specified attributes
#[tool(category = "parallel_multiple")]
pub async fn battle_reign_game_api_update_player_equipment(
    /// The attribute of the equipment to modify.
    attribute: String,
    /// The level to modify the attribute to.
    level: i64,
    /// Player ID of the player. Default to 123
    #[arg(rename = "playerID", default = 123)]
    player_id: i64,
) -> Result<Arrived, ToolError> {
    arrived(&battle_reign_game_api_update_player_equipment { attribute, level, player_id })
}

/// Calculate energy from amount of substance based on its molecular composition.
#[tool(category = "multiple")]
pub async fn biological_calc_energy(
    /// Amount of substance in moles.
    mols: i64,
    /// The chemical formula of the substance.
    substance: String,
    /// The energy produced or required for the reaction, default value for glucose is 2800 kJ/mol
    #[arg(default = 2800)]
    joules_per_mol: i64,
) -> Result<Arrived, ToolError> {
    arrived(&biological_calc_energy { mols, substance, joules_per_mol })
}

/// Retrieve information about the structure and functioning of a specified type of cell
#[tool(category = "simple_python")]
pub async fn biology_get_cell_info(
    /// Type of cell you want information about
    cell_type: String,
    /// Indicate if you want a detailed description of the cell
    detailed: Option<bool>,
) -> Result<Arrived, ToolError> {
    arrived(&biology_get_cell_info { cell_type, detailed })
}

/// Checks and determines the winner in a game of blackjack.
#[tool(category = "simple_python")]
pub async fn blackjack_check_winner(
    /// Cards held by the player.
    player_cards: Vec<String>,
    /// Cards held by the dealer.
    dealer_cards: Vec<String>,
    /// The value considered for the ace card, can be either 1 or 11.
    #[arg(default = 11)]
    ace_value: i64,
) -> Result<Arrived, ToolError> {
    arrived(&blackjack_check_winner { player_cards, dealer_cards, ace_value })
}

/// Generate game recommendation from BoardGameGeek store based on number of players and category.
#[tool(category = "parallel_multiple")]
pub async fn board_game_geek_recommend(
    /// The number of players who will play the game.
    #[arg(rename = "numPlayers")]
    num_players: i64,
    /// The preferred category of board game. E.g. strategy, family, party etc.
    category: String,
    /// Preferred difficulty level. E.g. beginner, intermediate, advanced etc. This is an optional parameter. Default to 'beginner' if not specified.
    difficulty: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&board_game_geek_recommend { num_players, category, difficulty })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum BoardGameInfoInfoRequired {
    #[serde(rename = "average_review_rating")]
    AverageReviewRating,
    #[serde(rename = "age_range")]
    AgeRange,
    #[serde(rename = "number_of_players")]
    NumberOfPlayers,
    #[serde(rename = "playing_time")]
    PlayingTime,
    #[serde(rename = "genre")]
    Genre,
}

/// Get the information about a board game from a database.
#[tool(category = "simple_python")]
pub async fn board_game_info(
    /// Name of the board game.
    game_name: String,
    /// Array of information requested for the game.
    info_required: Vec<BoardGameInfoInfoRequired>,
) -> Result<Arrived, ToolError> {
    arrived(&board_game_info { game_name, info_required })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize_repr, Deserialize_repr, StrictSchema)]
#[schema(integer)]
#[repr(i64)]
pub enum Buses3FindBusNumPassengers {
    N1 = 1,
    N2 = 2,
    N3 = 3,
    N4 = 4,
    N5 = 5,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Buses3FindBusCategory {
    #[serde(rename = "direct")]
    Direct,
    #[serde(rename = "one-stop")]
    OneStop,
}

/// Search for a bus itinerary between two cities on a specified date. The search can be filtered based on the number of passengers and the bus route category.
#[tool(category = "live_multiple")]
pub async fn buses_3_find_bus(
    /// The city of departure, formatted as 'City, State' (e.g., 'San Francisco, CA').
    from_city: String,
    /// The destination city, formatted as 'City, State' (e.g., 'Los Angeles, CA').
    to_city: String,
    /// The date of departure, formatted as 'MM/DD/YYYY' (e.g., '04/25/2023').
    departure_date: String,
    /// The number of passengers for which to book the trip. Must be an integer from 1 to 5.
    #[arg(default = 1)]
    num_passengers: Buses3FindBusNumPassengers,
    /// The type of bus route, indicating the number of stops.
    #[arg(default = "direct")]
    category: Buses3FindBusCategory,
) -> Result<Arrived, ToolError> {
    arrived(&buses_3_find_bus { from_city, to_city, departure_date, num_passengers, category })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize_repr, Deserialize_repr, StrictSchema)]
#[schema(integer)]
#[repr(i64)]
pub enum Buses3FindBus2NumPassengers {
    N1 = 1,
    N2 = 2,
    N3 = 3,
    N4 = 4,
    N5 = 5,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Buses3FindBus2Category {
    #[serde(rename = "direct")]
    Direct,
    #[serde(rename = "one-stop")]
    OneStop,
}

/// Search for a bus itinerary between two cities on a specific date.
#[tool(category = "live_multiple")]
pub async fn buses_3_find_bus_2(
    /// The city of departure, formatted as 'City, State' (e.g., 'New York, NY').
    from_city: String,
    /// The destination city, formatted as 'City, State' (e.g., 'Los Angeles, CA').
    to_city: String,
    /// The date of departure in the format 'YYYY-MM-DD' (e.g., '2023-06-15').
    departure_date: String,
    /// The number of passengers for the trip.
    num_passengers: Option<Buses3FindBus2NumPassengers>,
    /// The type of bus route based on the number of stops.
    #[arg(default = "direct")]
    category: Buses3FindBus2Category,
) -> Result<Arrived, ToolError> {
    arrived(&buses_3_find_bus_2 { from_city, to_city, departure_date, num_passengers, category })
}

/// Calculates the absolute pressure from gauge and atmospheric pressures.
#[tool(category = "parallel")]
pub async fn calc_absolute_pressure(
    /// The atmospheric pressure in atmospheres (atm). Default is 1 atm if not provided.
    atm_pressure: Option<f64>,
    /// The gauge pressure in atmospheres (atm). Must be provided.
    gauge_pressure: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calc_absolute_pressure { atm_pressure, gauge_pressure })
}

/// Calculate the heat capacity at constant pressure of air using its temperature and volume.
#[tool(category = "multiple")]
pub async fn calc_heat_capacity(
    /// The temperature of the gas in Kelvin.
    temp: i64,
    /// The volume of the gas in m^3.
    volume: i64,
    /// Type of gas, with air as default.
    gas: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&calc_heat_capacity { temp, volume, gas })
}

/// Calculate the heat capacity at constant pressure of air using its temperature and volume.
#[tool(category = "parallel")]
pub async fn calc_heat_capacity_2(
    /// The temperature of the gas in Kelvin.
    temp: i64,
    /// The volume of the gas in m^3.
    volume: f64,
    /// Type of gas, with air as default.
    gas: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&calc_heat_capacity_2 { temp, volume, gas })
}

/// Calculates the volume of a cuboid.
#[tool(category = "parallel_multiple")]
pub async fn calc_volume_cuboid(
    /// The height of the cuboid.
    height: f64,
    /// The width of the cuboid.
    width: f64,
    /// The depth of the cuboid.
    depth: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calc_volume_cuboid { height, width, depth })
}

/// Calculates the binomial probability given the number of trials, successes and the probability of success on an individual trial.
#[tool(category = "simple_python")]
pub async fn calculate_binomial_probability(
    /// The total number of trials.
    number_of_trials: i64,
    /// The desired number of successful outcomes.
    number_of_successes: i64,
    /// The probability of a successful outcome on any given trial.
    #[arg(default = 0.5)]
    probability_of_success: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_binomial_probability { number_of_trials, number_of_successes, probability_of_success })
}

/// Calculate the Body Mass Index (BMI) of a person.
#[tool(category = "simple_python")]
pub async fn calculate_bmi(
    /// Weight of the person in kilograms.
    weight: i64,
    /// Height of the person in centimeters.
    height: i64,
    /// Optional parameter to choose between 'imperial' and 'metric' systems. Default is 'metric'.
    unit: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_bmi { weight, height, unit })
}

/// Calculate the Body Mass Index (BMI) for a person based on their weight and height.
#[tool(category = "simple_python")]
pub async fn calculate_bmi_2(
    /// The weight of the person in kilograms.
    weight: i64,
    /// The height of the person in centimeters.
    height: i64,
    /// The system of units to be used, 'metric' or 'imperial'. Default is 'metric'.
    system: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_bmi_2 { weight, height, system })
}

/// Calculate the cell density of a biological sample based on its optical density and the experiment dilution.
#[tool(category = "simple_python")]
pub async fn calculate_cell_density(
    /// The optical density of the sample, usually obtained from a spectrophotometer reading.
    optical_density: f64,
    /// The dilution factor applied during the experiment.
    dilution: i64,
    /// The calibration factor to adjust the density, default value is 1e9 assuming cell density is in CFU/mL.
    calibration_factor: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_cell_density { optical_density, dilution, calibration_factor })
}

/// Calculate the area and circumference of a circle based on the radius.
#[tool(category = "simple_python")]
pub async fn calculate_circle_dimensions(
    /// The radius of the circle.
    radius: i64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_circle_dimensions { radius })
}

/// Calculate the angle between the hour and minute hands of a clock at a given time.
#[tool(category = "simple_python")]
pub async fn calculate_clock_angle(
    /// The hour on the clock face.
    hours: i64,
    /// The minutes on the clock face.
    minutes: i64,
    /// The number of decimal places to round the result to, default is 2.
    round_to: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_clock_angle { hours, minutes, round_to })
}

/// Calculate the population density of a specific country in a specific year.
#[tool(category = "simple_python")]
pub async fn calculate_density(
    /// The country for which the density needs to be calculated.
    country: String,
    /// The year in which the density is to be calculated.
    year: String,
    /// The population of the country.
    population: i64,
    /// The land area of the country in square kilometers.
    land_area: i64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_density { country, year, population, land_area })
}

/// Calculate the derivative of a polynomial function.
#[tool(category = "simple_python")]
pub async fn calculate_derivative(
    /// The polynomial function.
    function: String,
    /// The x-value at which the derivative is calculated. Optional, default to 0.00.
    x_value: Option<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_derivative { function, x_value })
}

/// Calculate the derivative of a single-variable function.
#[tool(category = "parallel_multiple")]
pub async fn calculate_derivative_2(
    /// The function to be differentiated.
    func: String,
    /// The x-value at which the derivative should be calculated.
    x_value: i64,
    /// The order of the derivative (optional). Default is 1st order.
    #[arg(default = 1)]
    order: i64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_derivative_2 { func, x_value, order })
}

/// Calculates the displacement of an object in motion given initial velocity, time, and acceleration.
#[tool(category = "simple_python")]
pub async fn calculate_displacement(
    /// The initial velocity of the object in m/s.
    initial_velocity: i64,
    /// The time in seconds that the object has been in motion.
    time: i64,
    /// The acceleration of the object in m/s^2.
    #[arg(default = 0)]
    acceleration: f64,
) -> Result<Arrived, ToolError> {
    arrived(&calculate_displacement { initial_velocity, time, acceleration })
}
