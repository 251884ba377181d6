// Written by `cargo run -p bfcl-gen`, do not edit.

//! From `math_gcd` to `plot_sine_wave`.

use tool_core::prelude::*;

use crate::arrived::{Arrived, arrived};

/// Compute the greatest common divisor of two numbers
#[tool(category = "simple_python")]
pub async fn math_gcd(
    /// The first number.
    num1: i64,
    /// The second number.
    num2: i64,
) -> Result<Arrived, ToolError> {
    arrived(&math_gcd { num1, num2 })
}

/// Calculate the greatest common divisor (gcd) of the two integers.
#[tool(category = "simple_python")]
pub async fn math_gcd_2(
    /// The first number.
    num1: i64,
    /// The second number.
    num2: i64,
) -> Result<Arrived, ToolError> {
    arrived(&math_gcd_2 { num1, num2 })
}

/// Calculate the greatest common divisor of two integers.
#[tool(category = "simple_python")]
pub async fn math_gcd_3(
    /// First number.
    num1: i64,
    /// Second number.
    num2: i64,
) -> Result<Arrived, ToolError> {
    arrived(&math_gcd_3 { num1, num2 })
}

/// Calculates the least common multiple of two numbers.
#[tool(category = "multiple")]
pub async fn math_lcm(
    /// The first number.
    num1: i64,
    /// The second number.
    num2: i64,
) -> Result<Arrived, ToolError> {
    arrived(&math_lcm { num1, num2 })
}

/// Calculate the power of one number raised to another.
#[tool(category = "simple_python")]
pub async fn math_power(
    /// The base number.
    base: i64,
    /// The exponent.
    exponent: i64,
    /// The modulus. Default is 1. Calculates pow(base, exponent) % mod when provided.
    r#mod: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&math_power { base, exponent, r#mod })
}

/// Calculates the hypotenuse of a right triangle based on the lengths of the other two sides.
#[tool(category = "parallel")]
pub async fn math_pythagoras(
    /// Length of one of the sides of a right triangle.
    a: i64,
    /// Length of the other side of a right triangle.
    b: i64,
) -> Result<Arrived, ToolError> {
    arrived(&math_pythagoras { a, b })
}

/// Calculate the roots of a cubic equation.
#[tool(category = "parallel_multiple")]
pub async fn math_roots_cubic(
    /// Coefficient of the third-degree term.
    a: f64,
    /// Coefficient of the second-degree term.
    b: f64,
    /// Coefficient of the first-degree term.
    c: f64,
    /// Constant term.
    d: f64,
) -> Result<Arrived, ToolError> {
    arrived(&math_roots_cubic { a, b, c, d })
}

/// Calculates the area of a triangle using Heron's formula, given the lengths of its three sides.
#[tool(category = "parallel_multiple")]
pub async fn math_triangle_area_heron(
    /// Length of the first side of the triangle.
    side1: f64,
    /// Length of the second side of the triangle.
    side2: f64,
    /// Length of the third side of the triangle.
    side3: f64,
) -> Result<Arrived, ToolError> {
    arrived(&math_triangle_area_heron { side1, side2, side3 })
}

/// Calculate the area under the curve for a given polynomial function within a specified interval.
#[tool(category = "parallel")]
pub async fn mathematics_calculate_area_under_curve(
    /// The coefficients of the polynomial, in decreasing order of exponent, where the first element is the coefficient for x^n, the second element is the coefficient for x^(n-1), and so on. The last element is the constant term.
    polynomial: Vec<i64>,
    /// A list of two numbers specifying the lower and upper limit for the integration interval.
    limits: Vec<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&mathematics_calculate_area_under_curve { polynomial, limits })
}

/// This tool belongs to the Math API, which provides various mathematical operations. Tool description: Calculate the mean of a list of numbers.
#[tool(category = "multi_turn_base")]
pub async fn mean(
    /// List of numbers to calculate the mean of.
    numbers: Vec<f64>,
) -> Result<Arrived, ToolError> {
    arrived(&mean { numbers })
}

/// Create a melody based on specified notes.
#[tool(category = "parallel_multiple")]
pub async fn melody_generator(
    /// The sequence of notes for the melody.
    note_sequence: Vec<String>,
    /// The instrument to play the melody, e.g. Bass.
    #[arg(default = "Bass")]
    instrument: String,
) -> Result<Arrived, ToolError> {
    arrived(&melody_generator { note_sequence, instrument })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum MetropolitanMuseumGetTopArtworksSortBy {
    #[serde(rename = "popularity")]
    Popularity,
    #[serde(rename = "chronological")]
    Chronological,
    #[serde(rename = "alphabetical")]
    Alphabetical,
}

/// Fetches the list of popular artworks at the Metropolitan Museum of Art. Results can be sorted based on popularity.
#[tool(category = "multiple")]
pub async fn metropolitan_museum_get_top_artworks(
    /// The number of artworks to fetch
    number: i64,
    /// The criteria to sort the results on. Default is ''.
    sort_by: Option<MetropolitanMuseumGetTopArtworksSortBy>,
) -> Result<Arrived, ToolError> {
    arrived(&metropolitan_museum_get_top_artworks { number, sort_by })
}

/// Combine two primary paint colors and adjust the resulting color's lightness level.
#[tool(category = "parallel_multiple")]
pub async fn mix_paint_color(
    /// The first primary color to be mixed.
    color1: String,
    /// The second primary color to be mixed.
    color2: String,
    /// The desired lightness level of the resulting color in percentage. The default level is set to 50%.
    lightness: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&mix_paint_color { color1, color2, lightness })
}

/// This tool belongs to the Gorilla file system. It is a simple file system that allows users to perform basic file operations such as navigating directories, creating files and directories, reading and writing to files, etc. Tool description: Create a new directory in the current directory.
#[tool(category = "multi_turn_base")]
pub async fn mkdir(
    /// The name of the new directory at current directory. You can only create directory at current directory.
    dir_name: String,
) -> Result<Arrived, ToolError> {
    arrived(&mkdir { dir_name })
}

/// Build a Decision Tree Classifier model with provided criteria
#[tool(category = "parallel")]
pub async fn model_decision_tree_classifier(
    /// The function to measure the quality of a split, either 'gini' for the Gini impurity or 'entropy' for the information gain.
    criterion: String,
    /// The maximum depth of the tree, specifying how deep the tree can be.
    max_depth: i64,
    /// Controls the randomness of the estimator
    random_state: i64,
) -> Result<Arrived, ToolError> {
    arrived(&model_decision_tree_classifier { criterion, max_depth, random_state })
}

/// Retrieve the monarch of a specific location during a specified year.
#[tool(category = "simple_python")]
pub async fn monarch_get_monarch_of_year(
    /// The location (e.g., country) whose monarch needs to be found.
    location: String,
    /// The year to search the monarch.
    year: i64,
    /// If true, returns the full name and title of the monarch.
    #[arg(rename = "fullName", default = false)]
    full_name: bool,
) -> Result<Arrived, ToolError> {
    arrived(&monarch_get_monarch_of_year { location, year, full_name })
}

/// This function retrieves a brief about a specified movie.
#[tool(category = "parallel_multiple")]
pub async fn movie_details_brief(
    /// Title of the movie
    title: String,
    /// Option to get additional information like Director, Cast, Awards etc.
    #[arg(default = false)]
    extra_info: bool,
) -> Result<Arrived, ToolError> {
    arrived(&movie_details_brief { title, extra_info })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Movies1BuyMovieTicketsShowType {
    #[serde(rename = "regular")]
    Regular,
    #[serde(rename = "3d")]
    V3d,
    #[serde(rename = "imax")]
    Imax,
}

/// Purchase tickets for a specific movie showing, including the number of tickets, show date and time, and location.
#[tool(category = "live_multiple")]
pub async fn movies_1_buy_movie_tickets(
    /// The title of the movie for which tickets are being purchased.
    movie_name: String,
    /// The total number of tickets to be bought.
    number_of_tickets: i64,
    /// The date on which the movie is showing, in the format 'YYYY-MM-DD'.
    show_date: Option<String>,
    /// The city in which the movie theater is located, in the format of 'City, State', such as 'Los Angeles, CA'. State names must be abbreviated
    location: String,
    /// The start time of the movie showing, in 24-hour format 'HH:MM'.
    #[arg(default = "20:00")]
    show_time: String,
    /// The format of the movie showing.
    #[arg(default = "regular")]
    show_type: Movies1BuyMovieTicketsShowType,
) -> Result<Arrived, ToolError> {
    arrived(&movies_1_buy_movie_tickets { movie_name, number_of_tickets, show_date, location, show_time, show_type })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Movies1FindMoviesGenre {
    World,
    Offbeat,
    Mystery,
    Supernatural,
    Horror,
    Animation,
    #[serde(rename = "Sci-fi")]
    SciFi,
    Documentary,
    Drama,
    War,
    Family,
    Action,
    #[serde(rename = "dontcare")]
    Dontcare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Movies1FindMoviesShowType {
    #[serde(rename = "regular")]
    Regular,
    #[serde(rename = "3d")]
    V3d,
    #[serde(rename = "imax")]
    Imax,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Search for movies based on specific criteria such as location, genre, and show type.
#[tool(category = "live_multiple")]
pub async fn movies_1_find_movies(
    /// The city where the theater is located, in the format of 'City, State', such as 'Berkeley, CA' or 'New York, NY'.
    location: String,
    /// The name of the theater. If not provided, all theaters are considered.
    #[arg(default = "dontcare")]
    theater_name: String,
    /// The genre of the movie.
    #[arg(default = "dontcare")]
    genre: Movies1FindMoviesGenre,
    /// The format of the movie show such as regular, 3D, or IMAX.
    #[arg(default = "dontcare")]
    show_type: Movies1FindMoviesShowType,
) -> Result<Arrived, ToolError> {
    arrived(&movies_1_find_movies { location, theater_name, genre, show_type })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Movies3FindMoviesGenre {
    Offbeat,
    Fantasy,
    World,
    Mystery,
    Thriller,
    Comedy,
    #[serde(rename = "Comedy-drama")]
    ComedyDrama,
    Horror,
    Animation,
    #[serde(rename = "Sci-fi")]
    SciFi,
    Cult,
    Drama,
    Anime,
    Family,
    Action,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Retrieves a list of movies based on the director, genre, and cast specified by the user or genre is not specified by user
#[tool(category = "live_simple")]
pub async fn movies_3_find_movies(
    /// Director of the movie. Use 'dontcare' if the director is not a specific search criterion.
    #[arg(default = "dontcare")]
    directed_by: String,
    /// Genre of the movie. Use 'dontcare' to include all genres.
    #[arg(default = "dontcare")]
    genre: Movies3FindMoviesGenre,
    /// Names of leading actors or actresses in the movie. Use 'dontcare' if the cast is not a specific search criterion.
    #[arg(default = "dontcare")]
    cast: String,
) -> Result<Arrived, ToolError> {
    arrived(&movies_3_find_movies { directed_by, genre, cast })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Movies3FindMovies2Genre {
    Offbeat,
    Fantasy,
    World,
    Mystery,
    Thriller,
    Comedy,
    #[serde(rename = "Comedy-drama")]
    ComedyDrama,
    Horror,
    Animation,
    #[serde(rename = "Sci-fi")]
    SciFi,
    Cult,
    Drama,
    Anime,
    Family,
    Action,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Retrieve a list of movies based on director, genre, and cast preferences.
#[tool(category = "live_multiple")]
pub async fn movies_3_find_movies_2(
    /// Name of the director to filter the movies. Use 'dontcare' to include all directors.
    #[arg(default = "dontcare")]
    directed_by: String,
    /// Genre of the movies to filter. Use 'dontcare' to include all genres.
    #[arg(default = "dontcare")]
    genre: Movies3FindMovies2Genre,
    /// Name of the main actor to filter the movies. Use 'dontcare' to include all casts.
    #[arg(default = "dontcare")]
    cast: String,
) -> Result<Arrived, ToolError> {
    arrived(&movies_3_find_movies_2 { directed_by, genre, cast })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Movies3FindMovies3Genre {
    Bizarre,
    Fantasy,
    World,
    Mystery,
    Thriller,
    Comedy,
    #[serde(rename = "Comedy-drama")]
    ComedyDrama,
    Horror,
    Animation,
    #[serde(rename = "Sci-fi")]
    SciFi,
    Cult,
    Drama,
    Anime,
    Family,
    Action,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Retrieve a list of movies based on director, genre, and cast preferences.
#[tool(category = "live_multiple")]
pub async fn movies_3_find_movies_3(
    /// Name of the director to filter the movies. Use 'dontcare' to include all directors.
    #[arg(default = "dontcare")]
    directed_by: String,
    /// Genre of the movies to filter. Use 'dontcare' to include all genres.
    #[arg(default = "dontcare")]
    genre: Movies3FindMovies3Genre,
    /// Name of the main actor to filter the movies. Use 'dontcare' to include all casts.
    #[arg(default = "dontcare")]
    cast: String,
) -> Result<Arrived, ToolError> {
    arrived(&movies_3_find_movies_3 { directed_by, genre, cast })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Movies3FindMovies4Genre {
    Offbeat,
    Fantasy,
    World,
    Mystery,
    Thriller,
    Comedy,
    #[serde(rename = "Comedy-drama")]
    ComedyDrama,
    Horror,
    Animation,
    #[serde(rename = "Sci-fi")]
    SciFi,
    Cult,
    Drama,
    Anime,
    Family,
    Action,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Retrieve a list of movies based on specified criteria that match the user's preferences.
#[tool(category = "live_multiple")]
pub async fn movies_3_find_movies_4(
    /// The first name or full name of the director of the movies to filter by. Use 'dontcare' if the director is not a filtering criterion.
    #[arg(default = "dontcare")]
    directed_by: String,
    /// The genre of the movies to filter by. Select 'dontcare' to include all genres.
    #[arg(default = "dontcare")]
    genre: Movies3FindMovies4Genre,
    /// First names or full names of lead actors or actresses in the movies to filter by. Use 'dontcare' if the cast is not a filtering criterion.
    #[arg(default = "dontcare")]
    cast: String,
) -> Result<Arrived, ToolError> {
    arrived(&movies_3_find_movies_4 { directed_by, genre, cast })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum MultiplayerGameFinderGenre {
    Action,
    Adventure,
    Racing,
    Strategy,
    Simulation,
}

/// Locate multiplayer games that match specific criteria such as rating, platform compatibility, genre, etc.
#[tool(category = "simple_python")]
pub async fn multiplayer_game_finder(
    /// The platform you want the game to be compatible with, e.g. Windows 10, PS5.
    platform: String,
    /// Desired minimum game rating on a 5.0 scale.
    rating: f64,
    /// Desired game genre, e.g. Action, Adventure, Racing. Default is 'Action'.
    genre: Option<MultiplayerGameFinderGenre>,
) -> Result<Arrived, ToolError> {
    arrived(&multiplayer_game_finder { platform, rating, genre })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum MultiplayerGameFinder2Genre {
    Action,
    Adventure,
    Racing,
    Strategy,
    Simulation,
}

/// Locate multiplayer games that match specific criteria such as rating, platform compatibility, genre, etc.
#[tool(category = "multiple")]
pub async fn multiplayer_game_finder_2(
    /// The platform you want the game to be compatible with, e.g. Windows 10, PS5.
    platform: String,
    /// Desired minimum game rating on a 5.0 scale.
    rating: f64,
    /// Desired game genre, e.g. Action, Adventure, Racing. Default is ''.
    genre: Option<MultiplayerGameFinder2Genre>,
) -> Result<Arrived, ToolError> {
    arrived(&multiplayer_game_finder_2 { platform, rating, genre })
}

/// Performs multiplication of two integers and returns the product.
#[tool(category = "live_multiple")]
pub async fn multiply(
    /// The first integer to be multiplied.
    a: i64,
    /// The second integer to be multiplied.
    b: i64,
) -> Result<Arrived, ToolError> {
    arrived(&multiply { a, b })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum MuseumGetWaitingTimeDay {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

/// Retrieve the estimated waiting time at a specific museum.
#[tool(category = "parallel_multiple")]
pub async fn museum_get_waiting_time(
    /// The name of the museum.
    museum_name: String,
    /// Day of the week.
    #[arg(default = "Monday")]
    day: MuseumGetWaitingTimeDay,
) -> Result<Arrived, ToolError> {
    arrived(&museum_get_waiting_time { museum_name, day })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Music3LookupMusicGenre {
    Reggae,
    Holiday,
    Electropop,
    Pop,
    Asia,
    House,
    Electronica,
    Funk,
    Rock,
    Metal,
    Dubstep,
    Country,
    #[serde(rename = "dontcare")]
    Dontcare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Music3LookupMusicYear {
    #[serde(rename = "2010")]
    V2010,
    #[serde(rename = "2011")]
    V2011,
    #[serde(rename = "2012")]
    V2012,
    #[serde(rename = "2013")]
    V2013,
    #[serde(rename = "2014")]
    V2014,
    #[serde(rename = "2015")]
    V2015,
    #[serde(rename = "2016")]
    V2016,
    #[serde(rename = "2017")]
    V2017,
    #[serde(rename = "2018")]
    V2018,
    #[serde(rename = "2019")]
    V2019,
    #[serde(rename = "dontcare")]
    Dontcare,
}

/// Finds songs that align with the user's musical preferences based on the artist, album, genre, and release year.
#[tool(category = "live_multiple")]
pub async fn music_3_lookup_music(
    /// The name of the artist performing the song. Use 'dontcare' to ignore this criterion.
    #[arg(default = "dontcare")]
    artist: String,
    /// The name of the album that the song is part of. Use 'dontcare' to ignore this criterion.
    #[arg(default = "dontcare")]
    album: String,
    /// The genre of the music. Use 'dontcare' to indicate no specific preference.
    #[arg(default = "dontcare")]
    genre: Music3LookupMusicGenre,
    /// The year of the song's initial release. Format should be a four-digit number, e.g., '2001'. Use 'dontcare' to ignore this criterion.
    #[arg(default = "dontcare")]
    year: Music3LookupMusicYear,
) -> Result<Arrived, ToolError> {
    arrived(&music_3_lookup_music { artist, album, genre, year })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum Music3PlayMediaDevice {
    #[serde(rename = "Living room")]
    LivingRoom,
    Kitchen,
    Patio,
}

/// Plays the specified track on the designated device, optionally filtering by artist and album.
#[tool(category = "live_multiple")]
pub async fn music_3_play_media(
    /// The title of the track to be played.
    track: String,
    /// The name of the artist performing the track. If not specified, any artist is considered acceptable.
    #[arg(default = "any")]
    artist: String,
    /// The designated media player device where the music will be played.
    #[arg(default = "Living room")]
    device: Music3PlayMediaDevice,
    /// The album where the track is from. If not specified, tracks from any album are considered.
    #[arg(default = "any")]
    album: String,
) -> Result<Arrived, ToolError> {
    arrived(&music_3_play_media { track, artist, device, album })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum MusicComposerCreateMixNoteDuration {
    #[serde(rename = "whole")]
    Whole,
    #[serde(rename = "half")]
    Half,
    #[serde(rename = "quarter")]
    Quarter,
    #[serde(rename = "eighth")]
    Eighth,
    #[serde(rename = "sixteenth")]
    Sixteenth,
}

/// Create a mix of a song based on a particular music scale and duration
#[tool(category = "simple_python")]
pub async fn music_composer_create_mix(
    /// The musical scale to be used. E.g: C Major, A Minor, etc.
    scale: String,
    /// Duration of each note. Options: 'whole', 'half', 'quarter', 'eighth', 'sixteenth'.
    note_duration: MusicComposerCreateMixNoteDuration,
    /// Length of the mix track in seconds.
    track_length: i64,
) -> Result<Arrived, ToolError> {
    arrived(&music_composer_create_mix { scale, note_duration, track_length })
}

/// Create a chord progression in a specific key and number of chords.
#[tool(category = "simple_python")]
pub async fn music_generation_create_chord_progression(
    /// The key for the chord progression.
    key: String,
    /// Number of chords in the progression.
    chords: i64,
    /// The type of the chord progression. Optional parameter. Default is 'major'.
    progression_type: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&music_generation_create_chord_progression { key, chords, progression_type })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum MusicShopFindNearbyServices {
    #[serde(rename = "Guitar Lessons")]
    GuitarLessons,
    #[serde(rename = "Violin Lessons")]
    ViolinLessons,
    #[serde(rename = "Piano Lessons")]
    PianoLessons,
    #[serde(rename = "Ukulele Lessons")]
    UkuleleLessons,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum MusicShopFindNearbyInstruments {
    Guitars,
    Violins,
    Pianos,
    Drums,
}

/// Locate nearby music shops based on specific criteria like instrument lessons availability.
#[tool(category = "multiple")]
pub async fn music_shop_find_nearby(
    /// The city and state, e.g. Nashville, TN
    location: String,
    /// Types of instrument lessons offered in the shop. Default empty array
    services: Option<Vec<MusicShopFindNearbyServices>>,
    /// Types of instruments sold in the shop. Default empty array
    instruments: Option<Vec<MusicShopFindNearbyInstruments>>,
) -> Result<Arrived, ToolError> {
    arrived(&music_shop_find_nearby { location, services, instruments })
}

/// Finds the type of a genetic mutation based on its SNP (Single Nucleotide Polymorphism) ID.
#[tool(category = "simple_python")]
pub async fn mutation_type_find(
    /// The ID of the Single Nucleotide Polymorphism (SNP) mutation.
    snp_id: String,
    /// Species in which the SNP occurs, default is 'Homo sapiens' (Humans).
    species: Option<String>,
) -> Result<Arrived, ToolError> {
    arrived(&mutation_type_find { snp_id, species })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum NatureReserveFindNearbyAmenities {
    #[serde(rename = "Picnic Tables")]
    PicnicTables,
    #[serde(rename = "Public Restrooms")]
    PublicRestrooms,
    Playgrounds,
    #[serde(rename = "Biking Trails")]
    BikingTrails,
    #[serde(rename = "Hiking Trails")]
    HikingTrails,
    #[serde(rename = "Camping Grounds")]
    CampingGrounds,
}

/// Locate nearby nature reserves based on specific criteria such as amenities and proximity.
#[tool(category = "parallel")]
pub async fn nature_reserve_find_nearby(
    /// The city where you want to locate a nature reserve.
    location: String,
    /// Preferred amenities in the nature reserve.
    amenities: Vec<NatureReserveFindNearbyAmenities>,
    /// The radius within which to look for nature reserves in kilometers.
    proximity: i64,
) -> Result<Arrived, ToolError> {
    arrived(&nature_reserve_find_nearby { location, amenities, proximity })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum OpenProjectAccessMode {
    #[serde(rename = "readonly")]
    Readonly,
    #[serde(rename = "readwrite")]
    Readwrite,
}

/// This function either creates a new Data Artifex project or opens an existing one within the specified directory.
#[tool(category = "live_multiple")]
pub async fn open_project(
    /// The file system path to the directory where the project is to be created or opened. The path should be absolute or relative to the current working directory.
    path: String,
    /// Determines whether to create a new project if no existing project is found at the specified path.
    #[arg(default = true)]
    create_if_missing: bool,
    /// The mode in which the project should be opened, either read-only or read-write.
    #[arg(default = "readwrite")]
    access_mode: OpenProjectAccessMode,
) -> Result<Arrived, ToolError> {
    arrived(&open_project { path, create_if_missing, access_mode })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum OpenProject2AccessMode {
    #[serde(rename = "read-only")]
    ReadOnly,
    #[serde(rename = "edit")]
    Edit,
}

/// Initializes a new Data Artifex project or opens an existing one in the specified directory.
#[tool(category = "live_multiple")]
pub async fn open_project_2(
    /// The filesystem path to the directory where the project files are located or will be created. The path should be absolute or relative to the current working directory.
    path: String,
    /// A flag indicating whether to create a new project if one does not exist at the specified path.
    #[arg(default = false)]
    create_new: bool,
    /// The mode in which to open the project. For example, 'read-only' or 'edit'.
    #[arg(default = "edit")]
    access_mode: OpenProject2AccessMode,
) -> Result<Arrived, ToolError> {
    arrived(&open_project_2 { path, create_new, access_mode })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum OpenWeatherMapGetCurrentWeatherLocation {
    #[serde(rename = "New York, USA")]
    NewYorkUsa,
    #[serde(rename = "London, UK")]
    LondonUk,
    #[serde(rename = "Seoul, South Korea")]
    SeoulSouthKorea,
    #[serde(rename = "Sydney, Australia")]
    SydneyAustralia,
    #[serde(rename = "Tokyo, Japan")]
    TokyoJapan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum OpenWeatherMapGetCurrentWeatherUnits {
    #[serde(rename = "metric")]
    Metric,
    #[serde(rename = "imperial")]
    Imperial,
    #[serde(rename = "standard")]
    Standard,
}

/// Fetches the current weather information for a specified location using the OpenWeatherMap API.
#[tool(category = "live_parallel_multiple")]
pub async fn open_weather_map_get_current_weather(
    /// The location for which current weather information is requested, specified in the format of 'City, Country' in English. For example: 'Seoul, South Korea'.
    location: OpenWeatherMapGetCurrentWeatherLocation,
    /// The unit system used for the weather data. Can be 'metric' for Celsius, 'imperial' for Fahrenheit, or 'standard' for Kelvin.
    #[arg(default = "metric")]
    units: OpenWeatherMapGetCurrentWeatherUnits,
    /// The API key used to authenticate requests to the OpenWeatherMap API. This key should be kept secret.
    #[arg(default = "YOUR_API_KEY_HERE")]
    api_key: String,
) -> Result<Arrived, ToolError> {
    arrived(&open_weather_map_get_current_weather { location, units, api_key })
}

/// Preheat the oven for a specified duration at a given temperature.
#[tool(category = "live_multiple")]
pub async fn oven_preheat(
    /// The duration in minutes to preheat the oven.
    duration: i64,
    /// The temperature in degrees Fahrenheit to preheat the oven.
    temperature: i64,
) -> Result<Arrived, ToolError> {
    arrived(&oven_preheat { duration, temperature })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ParksFindNearbyAmenities {
    #[serde(rename = "Tennis Court")]
    TennisCourt,
    #[serde(rename = "Picnic Area")]
    PicnicArea,
    Playground,
    #[serde(rename = "Running Track")]
    RunningTrack,
}

/// Locate nearby parks based on specific criteria like tennis court availability.
#[tool(category = "simple_python")]
pub async fn parks_find_nearby(
    /// The city and state, e.g. London, UK
    location: String,
    /// Preferred amenities in park. Default is ['Running Track']
    amenities: Option<Vec<ParksFindNearbyAmenities>>,
) -> Result<Arrived, ToolError> {
    arrived(&parks_find_nearby { location, amenities })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum ParksFindNearby2Amenities {
    #[serde(rename = "Tennis Court")]
    TennisCourt,
    #[serde(rename = "Picnic Area")]
    PicnicArea,
    Playground,
    #[serde(rename = "Running Track")]
    RunningTrack,
}

/// Locate nearby parks based on specific criteria like tennis court availability.
#[tool(category = "parallel")]
pub async fn parks_find_nearby_2(
    /// The city and state, e.g. London, UK
    location: String,
    /// Preferred amenities in park.
    #[arg(default = ["Playground"])]
    amenities: Vec<ParksFindNearby2Amenities>,
) -> Result<Arrived, ToolError> {
    arrived(&parks_find_nearby_2 { location, amenities })
}

/// Analyzes an input string and determines if it can be interpreted as a meaningful answer. If the input string indicates that an answer cannot be found, the output is an empty string.
#[tool(category = "live_simple")]
pub async fn parse_answer(
    /// The input string to be parsed in plain text. If the string indicates 'answer not found', the result will be an empty string ('').
    answer: String,
) -> Result<Arrived, ToolError> {
    arrived(&parse_answer { answer })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum PatientGetMriReportMriType {
    #[serde(rename = "brain")]
    Brain,
    #[serde(rename = "spinal")]
    Spinal,
    #[serde(rename = "chest")]
    Chest,
    #[serde(rename = "abdominal")]
    Abdominal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum PatientGetMriReportStatus {
    #[serde(rename = "in progress")]
    InProgress,
    #[serde(rename = "concluded")]
    Concluded,
    #[serde(rename = "draft")]
    Draft,
}

/// Fetch the brain MRI report of the patient for a given status.
#[tool(category = "simple_python")]
pub async fn patient_get_mri_report(
    /// The patient identifier.
    patient_id: String,
    /// Type of the MRI. Default to be 'brain'.
    mri_type: Option<PatientGetMriReportMriType>,
    /// Status of the report, could be 'in progress', 'concluded' or 'draft'.
    status: PatientGetMriReportStatus,
) -> Result<Arrived, ToolError> {
    arrived(&patient_get_mri_report { patient_id, mri_type, status })
}

/// This tool belongs to the trading system, which allows users to trade stocks, manage their account, and view stock information. Tool description: Place an order.
#[tool(category = "multi_turn_base")]
pub async fn place_order(
    /// Type of the order (Buy/Sell).
    order_type: String,
    /// Symbol of the stock to trade.
    symbol: String,
    /// Price at which to place the order.
    price: f64,
    /// Number of shares to trade.
    amount: i64,
) -> Result<Arrived, ToolError> {
    arrived(&place_order { order_type, symbol, price, amount })
}

/// Initiate playback of all tracks associated with the specified artist.
#[tool(category = "live_simple")]
pub async fn play_artist(
    /// The name of the artist whose tracks are to be played.
    artist_name: String,
) -> Result<Arrived, ToolError> {
    arrived(&play_artist { artist_name })
}

/// Initiates playback of a song based on a search query provided by the user.
#[tool(category = "live_multiple")]
pub async fn play_song(
    /// The search query for the song, formatted as 'track:Song Name artist:Artist Name', or just 'track:Song Name' if the artist is not known.
    query: String,
) -> Result<Arrived, ToolError> {
    arrived(&play_song { query })
}

/// Plays the specified song based on a search query provided by the user.
#[tool(category = "live_multiple")]
pub async fn play_song_2(
    /// The search query for the song, which may include title, artist, or album name.
    query: String,
    /// Determines if the song playback should be shuffled. If true, plays songs in random order.
    #[arg(default = false)]
    shuffle: bool,
    /// Determines if the song should be repeated after it finishes playing.
    #[arg(default = false)]
    repeat: bool,
    /// The volume level to play the song at, ranging from 0 (mute) to 100 (maximum volume).
    #[arg(default = 70)]
    volume: i64,
) -> Result<Arrived, ToolError> {
    arrived(&play_song_2 { query, shuffle, repeat, volume })
}

/// This function is for playing a sound wave file.
#[tool(category = "parallel_multiple")]
pub async fn play_sound_wave(
    /// The filename of the sound wave file to be played.
    wave_file: String,
    /// The volume level at which the sound is to be played (1 is 100%).
    #[arg(default = 1)]
    volume: f64,
) -> Result<Arrived, ToolError> {
    arrived(&play_sound_wave { wave_file, volume })
}

/// This function searches for a song on Spotify using a provided query and plays the selected track
#[tool(category = "live_simple")]
pub async fn play_spotify_song(
    /// The search query for the song, including track and artist information, in the format 'track:SongName artist:ArtistName', such as 'track:Doxy artist:Miles Davis'.
    query: String,
    /// Indicates whether to play the songs in shuffle mode, use default if not specified
    #[arg(default = false)]
    shuffle: bool,
    /// The volume level to set when playing the song, expressed as a percentage from 0 to 100m, use default if not specified
    #[arg(default = 50)]
    volume: i64,
) -> Result<Arrived, ToolError> {
    arrived(&play_spotify_song { query, shuffle, volume })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub enum PlayerStatsGetLastGameMetrics {
    Points,
    Rebounds,
    Assists,
    Blocks,
}

/// Get last game statistics for a specific player in basketball
#[tool(category = "simple_python")]
pub async fn player_stats_get_last_game(
    /// The name of the basketball player.
    player_name: String,
    /// The team that player currently plays for.
    team: String,
    /// Specific metrics to retrieve. If no value is specified, all available metrics will be returned by default.
    metrics: Option<Vec<PlayerStatsGetLastGameMetrics>>,
) -> Result<Arrived, ToolError> {
    arrived(&player_stats_get_last_game { player_name, team, metrics })
}

/// Plot a sine wave for a given frequency in a given range.
#[tool(category = "simple_python")]
pub async fn plot_sine_wave(
    /// Start of the range in radians. Four decimal places.
    start_range: f64,
    /// End of the range in radians. Four decimal places.
    end_range: f64,
    /// Frequency of the sine wave in Hz.
    frequency: i64,
    /// Amplitude of the sine wave. Default is 1.
    amplitude: Option<i64>,
    /// Phase shift of the sine wave in radians. Default is 0.
    phase_shift: Option<i64>,
) -> Result<Arrived, ToolError> {
    arrived(&plot_sine_wave { start_range, end_range, frequency, amplitude, phase_shift })
}
