/// Identifies the samples of one playlist and one discontinuity sequence, which share parameter sets.
package struct StreamID: Hashable, Sendable {
    var playlistURL: String
    var epoch: Int
    var discontinuity: Int
}
