/// A part by the media sequence number of its segment and its place in it, or the whole segment, which is more than any
/// of its parts.
package struct PartPosition: Sendable, Hashable, Comparable {
    var sequence: Int
    /// From 0 on; nil for the whole segment.
    package var part: Int?

    package static func < (one: PartPosition, other: PartPosition) -> Bool {
        (one.sequence, one.part ?? .max) < (other.sequence, other.part ?? .max)
    }
}
