import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection

/// The configuration of an item's driver, apart from the engine's configuration.
struct DriverConfiguration: Sendable {
    var transport: any ResourceTransport
    /// Returns the media time of the item's start, if it is known. This is the case for a file.
    var mediaOrigin: @Sendable () -> Duration? = { nil }
    /// The container of the item's media, regardless of its bytes, for a file with a given media type.
    var declaredContainer: ContainerProbe.Container?
    var resourcePolicy: ResourcePolicy
    var outputs = OutputRegistry()
    /// The kinds of media to play. Media of other kinds is dropped.
    var mediaTypes: Set<MediaKind> = [.video, .audio]
    /// Kinds of media to decode even if no output takes them.
    var decodes: Set<MediaKind> = []
    var decodingThreadCount = 0
    var makeDecoder = TrackDecoder.libavcodec
    /// Whether media is demuxed, not only checked and dropped.
    var demuxes = true
    var isPaced = true
    var bandwidthHistory: BandwidthHistory?
    var urlRefresher: (any URLRefresher)?
    let userCall: UserCall
    let log: PlaybackLog
    /// Evaluates the app's conditions on variants, without a lock and before the engine has the playlist.
    var judgeVariants: @Sendable (MultivariantPlaylist) -> Void = { _ in }
    var playlistOptions = PlaylistParser.Options()
    /// The queue for parsing playlists and demuxing media.
    ///
    /// The default, `nil`, is ``WorkQueue/shared``. If the clock runs the player's tasks, `nil` means to work at once.
    var workQueue: WorkQueue?
}
