/// Samples with the same name share their parameter sets: they are of one playlist and one discontinuity sequence.
package struct StreamID: Hashable, Sendable {
    var playlistURL: String
    var epoch: Int
    var discontinuity: Int
}
