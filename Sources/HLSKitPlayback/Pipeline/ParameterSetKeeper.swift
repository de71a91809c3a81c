import HLSKitAsset
import HLSKitCodec
import HLSKitEngine
import HLSKitMedia

/// Keeps the in-band parameter sets of video by stream, whether or not the stream is wanted.
///
/// A decoder that is created later needs them if its first samples do not contain them. Muxers may write them only in
/// the very first segment. If that segment was not read, the head of the stream is requested.
struct ParameterSetKeeper: Sendable {
    private var known: [StreamID: [UInt8]] = [:]
    /// AAC configurations whose channels a program config element describes. It may occur only once in the stream.
    private var audio: [StreamID: [UInt8]] = [:]
    private var asked: [MediaKind: Set<StreamID>] = [:]
    /// The table packets of transport streams with segments without tables, or empty if the head has none.
    fileprivate(set) var tables: [StreamID: [UInt8]] = [:]

    mutating func note(_ sample: MediaSample, of track: MediaTrack, in stream: StreamID?) {
        if let stream, track.namesChannelsInBand, !track.awaitsChannels { audio[stream] = track.configuration }
        guard let stream, sample.isSync, track.mediaType == .video, PictureParameterSets.areInBand(track) else {
            return
        }
        let sets = PictureParameterSets.copy(of: sample, track.codec)
        if !sets.isEmpty { known[stream] = sets }
    }

    /// Returns the parameter sets for a track's decoders. Empty if they are not needed or not known.
    func sets(for track: MediaTrack, in stream: StreamID?) -> [UInt8] {
        guard let stream, track.mediaType == .video, PictureParameterSets.areInBand(track) else { return [] }
        return known[stream] ?? []
    }

    /// Returns the track, completed with information that its samples lack.
    func completed(_ track: MediaTrack, in stream: StreamID?) -> MediaTrack {
        guard track.awaitsChannels, let stream, let configuration = audio[stream],
            configuration.starts(with: track.configuration),
            let channelCount = (try? AudioSpecificConfig(parsing: configuration))?.channelCount, channelCount > 0
        else { return track }
        var track = track
        track.configuration = configuration
        track.channelCount = channelCount
        return track
    }

    mutating func endTables(of stream: StreamID) {
        if tables[stream] == nil { tables[stream] = [] }
    }

    /// Returns whether decoding at a sample requires the stream's head, which was not requested before.
    ///
    /// The head then counts as requested.
    mutating func needsHead(for sample: MediaSample, of track: MediaTrack, in stream: StreamID?) -> Bool {
        guard let stream, sample.isSync else { return false }
        switch track.mediaType {
        case .video: guard PictureParameterSets.areInBand(track), known[stream] == nil else { return false }
        case .audio: guard track.awaitsChannels, audio[stream] == nil else { return false }
        case .text, .metadata: return false
        }
        return asked[track.mediaType, default: []].insert(stream).inserted
    }
}

/// Reads the head of a stream's first segment up to its first sync sample or first audio sample.
struct StreamHead {
    private let decryption: SegmentDecryption?
    private var demuxer: (any Demuxer)?
    private var probe: [UInt8] = []
    private var tracks: [MediaTrack] = []
    private var byteCount = 0
    /// Whether only tables are needed. `bytesBeforeTables` are the bytes that have not shown them yet.
    private let endsWithTables: Bool
    private let kind: MediaKind
    private var bytesBeforeTables: [UInt8] = []

    /// The largest number of bytes to read before the first frame.
    private static let maximumByteCount = 4 << 20

    init(decryption: SegmentDecryption?, of kind: MediaKind, endsWithTables: Bool) {
        self.kind = kind
        self.decryption = decryption
        self.endsWithTables = endsWithTables
    }

    /// Adds bytes. Returns `true` when the rest of the head is not needed.
    mutating func append(_ bytes: [UInt8], to keeper: inout ParameterSetKeeper, of stream: StreamID) -> Bool {
        byteCount += bytes.count
        var events: [DemuxerEvent] = []
        do {
            var clear = try decryption?.decrypt(bytes) ?? bytes
            if endsWithTables { return findTables(in: clear, for: &keeper, of: stream) }
            if demuxer == nil {
                probe += clear
                guard let container = ContainerProbe.identify(probe[...], isComplete: false) else { return false }
                demuxer = try container.makeDemuxer(initialization: nil)
                (clear, probe) = (probe, [])
            }
            try demuxer?.append(clear[...], to: &events)
        } catch {
            return true
        }
        for event in events {
            switch event {
            case .tracks(let found): tracks = found
            case .sample(let sample):
                guard let track = tracks.first(where: { $0.id == sample.trackID }), track.mediaType == kind,
                    sample.isSync
                else { continue }
                keeper.note(sample, of: track, in: stream)
                return true
            case .eventMessage, .unreadTrack, .note: break
            }
        }
        return byteCount > Self.maximumByteCount
    }

    /// The number of bytes to search for tables, which are at the front.
    private static let longestWayToTables = 256 << 10

    private mutating func findTables(
        in bytes: [UInt8], for keeper: inout ParameterSetKeeper, of stream: StreamID
    ) -> Bool {
        bytesBeforeTables += bytes
        guard case .transportStream(let stride)? = ContainerProbe.identify(bytesBeforeTables[...], isComplete: false),
            let found = TransportStreamPreamble(head: bytesBeforeTables, stride: stride, holding: [])
        else { return bytesBeforeTables.count > Self.longestWayToTables }
        keeper.tables[stream] = found.packets(without: [])
        return true
    }
}
