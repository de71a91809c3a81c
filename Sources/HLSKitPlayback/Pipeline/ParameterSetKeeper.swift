import HLSKitAsset
import HLSKitCodec
import HLSKitEngine
import HLSKitMedia

/// Keeps the parameter sets of pictures that carry them, by stream, wanted or not: a decoder that is made later needs them
/// where the samples that it begins with do not have them.
///
/// Muxers may write them once, in the very first segment. Who has not read that asks for its head.
struct ParameterSetKeeper: Sendable {
    private var known: [StreamID: [UInt8]] = [:]
    /// Configurations of AAC whose channels a program config element tells, which may come once in the whole stream.
    private var sound: [StreamID: [UInt8]] = [:]
    /// Streams whose head was asked for, for pictures and for sound.
    private var asked: [MediaKind: Set<StreamID>] = [:]
    /// The tables of transport streams, as packets, where segments were found without; empty where the head has none
    /// either.
    fileprivate(set) var tables: [StreamID: [UInt8]] = [:]

    /// Takes note of a sample that decoding can start at.
    mutating func note(_ sample: MediaSample, of track: MediaTrack, in stream: StreamID?) {
        if let stream, track.namesChannelsInBand, !track.awaitsChannels { sound[stream] = track.configuration }
        guard let stream, sample.isSync, track.mediaType == .video, PictureParameterSets.areInBand(track) else {
            return
        }
        let sets = PictureParameterSets.copy(of: sample, track.codec)
        if !sets.isEmpty { known[stream] = sets }
    }

    /// What decoders of a track have to know; empty where the samples or their container tell, or nothing is known.
    func sets(for track: MediaTrack, in stream: StreamID?) -> [UInt8] {
        guard let stream, track.mediaType == .video, PictureParameterSets.areInBand(track) else { return [] }
        return known[stream] ?? []
    }

    /// A track with what its samples do not tell.
    func completed(_ track: MediaTrack, in stream: StreamID?) -> MediaTrack {
        guard track.awaitsChannels, let stream, let configuration = sound[stream],
            configuration.starts(with: track.configuration),
            let channelCount = (try? AudioSpecificConfig(parsing: configuration))?.channelCount, channelCount > 0
        else { return track }
        var track = track
        track.configuration = configuration
        track.channelCount = channelCount
        return track
    }

    /// The head was read.
    mutating func endTables(of stream: StreamID) {
        if tables[stream] == nil { tables[stream] = [] }
    }

    /// Whether decoding cannot start at a sample for all that is known, and the head of its stream was not asked for yet.
    /// It counts as asked for from now on.
    mutating func needsHead(for sample: MediaSample, of track: MediaTrack, in stream: StreamID?) -> Bool {
        guard let stream, sample.isSync else { return false }
        switch track.mediaType {
        case .video: guard PictureParameterSets.areInBand(track), known[stream] == nil else { return false }
        case .audio: guard track.awaitsChannels, sound[stream] == nil else { return false }
        case .text, .metadata: return false
        }
        return asked[track.mediaType, default: []].insert(stream).inserted
    }
}

/// Reads the head of a stream's first segment, as far as its first picture that decoding can start at, or its first sound.
struct StreamHead {
    private let decryption: SegmentDecryption?
    private var demuxer: (any Demuxer)?
    private var probe: [UInt8] = []
    private var tracks: [MediaTrack] = []
    private var byteCount = 0
    /// Nothing but the tables is looked for, and the bytes that have not shown them yet.
    private let endsWithTables: Bool
    private let kind: MediaKind
    private var bytesBeforeTables: [UInt8] = []

    /// A head has no more bytes than this before its first picture.
    private static let maximumByteCount = 4 << 20

    /// - Parameters:
    ///   - kind: the media that cannot be decoded without.
    ///   - endsWithTables: nothing but the tables of a transport stream is looked for.
    init(decryption: SegmentDecryption?, of kind: MediaKind, endsWithTables: Bool) {
        self.kind = kind
        self.decryption = decryption
        self.endsWithTables = endsWithTables
    }

    /// Takes the next bytes. True when there is nothing more to be learnt.
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

    /// Tables come at the front.
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
