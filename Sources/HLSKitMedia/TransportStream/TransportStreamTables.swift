/// The known tables of a transport stream: its programs and the selected one.
///
/// The segments of one sequence are one stream, so the tables of a segment apply to the next one until it contains
/// others.
struct TransportStreamTables: Sendable, Hashable {
    var association: ProgramAssociationTable?
    var maps: [Int: ProgramMapTable] = [:]
    /// The number of the selected program.
    var program: Int?

    /// The streams of the selected program.
    var map: ProgramMapTable? { program.flatMap { maps[$0] } }
}
