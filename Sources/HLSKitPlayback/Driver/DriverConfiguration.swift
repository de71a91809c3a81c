import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection

/// What the driver of an item needs besides the engine.
struct DriverConfiguration: Sendable {
    var transport: any ResourceTransport
    /// The time on the clock of the item's media that is its start, where that is known: of a file.
    var mediaOrigin: @Sendable () -> Duration? = { nil }
    /// What the item's media is in, whatever its bytes look like: of a file whose media type was given.
    var declaredContainer: ContainerProbe.Container?
    var resourcePolicy: ResourcePolicy
    var outputs = OutputRegistry()
    /// What is played; media of other kinds is dropped.
    var mediaTypes: Set<MediaKind> = [.video, .audio]
    /// Media that is decoded although no output wants it.
    var decodes: Set<MediaKind> = []
    var decodingThreadCount = 0
    var makeDecoder = TrackDecoder.libavcodec
    /// Media is taken apart; otherwise it is only checked and dropped.
    var demuxes = true
    var isPaced = true
    var bandwidthHistory: BandwidthHistory?
    var urlRefresher: (any URLRefresher)?
    let userCall: UserCall
    let log: PlaybackLog
    /// Asks the program about the variants of a playlist, without a lock and before the engine has it.
    var judgeVariants: @Sendable (MultivariantPlaylist) -> Void = { _ in }
    var playlistOptions = PlaylistParser.Options()
    /// Where playlists are parsed and media is demuxed; nil is ``WorkQueue/shared``, or at once where the clock runs the
    /// player's tasks.
    var workQueue: WorkQueue?
}
