/// The tables of a transport stream so far: its programs, and the one that is read.
///
/// Segments of one sequence are one stream: what the tables of one say counts for the next until it says otherwise.
struct TransportStreamTables: Sendable, Hashable {
    var association: ProgramAssociationTable?
    var maps: [Int: ProgramMapTable] = [:]
    /// The number of the program that is read.
    var program: Int?

    /// The streams of the program that is read.
    var map: ProgramMapTable? { program.flatMap { maps[$0] } }
}
