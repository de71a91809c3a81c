/// A part, identified by the media sequence number of its segment and its index in it. A whole segment orders after all
/// of its parts.
package struct PartPosition: Sendable, Hashable, Comparable {
    var sequence: Int
    /// The index of the part, from 0, or nil for the whole segment.
    package var part: Int?

    package static func < (one: PartPosition, other: PartPosition) -> Bool {
        (one.sequence, one.part ?? .max) < (other.sequence, other.part ?? .max)
    }
}
