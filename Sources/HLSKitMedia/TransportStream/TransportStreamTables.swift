/// The known tables of a transport stream: its programs and the selected one.
///
/// The segments of one sequence are one stream, so the tables of a segment apply to the next one until it contains
/// others.
struct TransportStreamTables: Sendable, Hashable {
    var association: ProgramAssociationTable?
    var maps: [Int: ProgramMapTable] = [:]
    var program: Int?

    var map: ProgramMapTable? { program.flatMap { maps[$0] } }
}
