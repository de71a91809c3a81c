import HLSKitAsset
import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSelection
import Synchronization

/// Loads the resources that frames need. It keeps keys, initialization sections and timeline anchors because many
/// frames share them. It does not keep segments.
final class FrameStore: Sendable {
    /// The largest number of segments to try for the times of a discontinuity sequence.
    private static let maximumEarlierCount = 4
    /// Longer segments are read in pieces.
    private static let longestWhole = Duration.seconds(20)
    /// The first piece of a segment whose beginning is sufficient, as a duration at its bandwidth and in bytes. A sync
    /// frame takes about as much as a quarter of a second.
    private static let headSeconds = 0.3
    private static let headByteCount = (least: 48 << 10, most: 1 << 20)
    private static let pieceByteCount = (first: 256 << 10, most: 4 << 20)

    let inspector: AssetInspector
    private let maps: SharedLoads<MapID, [UInt8]>
    private let keys: SharedLoads<ResourceID, [UInt8]>
    private let anchors: SharedLoads<AnchorID, ItemTimeline>
    private let parameterSets: SharedLoads<AnchorID, [UInt8]>
    /// Playlists whose segments are smaller than a first piece, so that reading in pieces has no benefit.
    private let small = Mutex<Set<String>>([])
    /// Keys that have decrypted media, so that a later failure is not caused by the key.
    private let provenKeys = Mutex<Set<ResourceID>>([])

    private struct MapID: Hashable, Sendable {
        var url: String
        var range: Range<UInt64>?
    }

    private struct AnchorID: Hashable, Sendable {
        var playlist: String
        var sequence: Int
    }

    let live: LiveFramePlaylists
    let pace: PacedTransport
    let client: ResourceClient

    init(_ inspector: AssetInspector) {
        self.inspector = inspector
        let pace = PacedTransport(inspector.client.options.transport, clock: inspector.client.options.clock)
        self.pace = pace
        client = inspector.client.over { _ in pace }
        // Under a virtual clock, loading must run on the clock's executor.
        let executor = client.options.executor
        live = LiveFramePlaylists(clock: client.options.clock, executor: executor)
        maps = SharedLoads(executor: executor)
        keys = SharedLoads(executor: executor)
        anchors = SharedLoads(executor: executor)
        parameterSets = SharedLoads(executor: executor)
    }

    // MARK: Segments

    enum Amount: Sendable {
        /// The amount that the reader requests, which may be small.
        case head
        /// The whole segment, or less if the reader has enough.
        case all
    }

    /// Reads a segment of a source in order until `body` has enough samples or the segment ends.
    ///
    /// - Parameter body: Receives the samples of the video track. Returns true to stop reading.
    /// - Throws: ``HLSError``, `CancellationError` and the errors of `body`.
    func read(
        _ index: Int, of source: FrameSource, _ amount: Amount,
        _ body: (FrameReader.Output, FrameReader) async throws -> Bool
    ) async throws {
        let playlist = source.playlist
        let segment = playlist.segments[index]
        guard let url = playlist.resolve(segment.uri) else {
            throw HLSError(code: .badPlaylist, urlString: playlist.url, cause: "a URI cannot be resolved")
        }
        var key: ResourceID?
        do {
            var reader = try await reader(for: segment, of: playlist, encryptedWith: &key)
            var pieces = Pieces(url: url, range: segment.loadedRange, namedBy: playlist.url)
            if client.options.clientData != nil { pieces.clientData = Self.clientData(of: segment, in: source) }
            if source.kind == .iFrames || small.withLock({ $0.contains(playlist.url) }) {
                pieces.size = nil
            } else if amount == .head {
                let estimate = Int(Double(min(source.bandwidth ?? 0, 100_000_000)) / 8 * Self.headSeconds)
                pieces.size = min(max(estimate, Self.headByteCount.least), Self.headByteCount.most)
            } else {
                pieces.size = segment.duration > Self.longestWhole ? Self.pieceByteCount.first : nil
            }
            pieces.container = source.container?.videoSegment(index)
            var isOver = false
            while !isOver {
                let (bytes, isEnd) = try await pieces.next(client)
                if pieces.isSmall { small.withLock { _ = $0.insert(playlist.url) } }
                isOver = isEnd
                let output = try reader.append(bytes, isEnd: isEnd)
                if let key, output.first != nil { provenKeys.withLock { _ = $0.insert(key) } }
                if reader.hasNoVideo { throw HLSError.noVideo(url) }
                if try await body(output, reader) { return }
            }
        } catch let error as MediaError {
            throw error.code == .unknownContainer
                ? unfit(key, url) ?? HLSError(error, url: url)
                : HLSError(error, url: url)
        } catch let error as DecryptionError {
            throw error.code == .badPadding ? unfit(key, url) ?? HLSError(error, url: url) : HLSError(error, url: url)
        }
    }

    private static func clientData(of segment: MediaSegment, in source: FrameSource) -> ClientDataNote {
        var facts = ClientDataFacts(
            segmentOf: segment.duration, source.objectType, isLive: !source.playlist.isComplete)
        if let bandwidth = source.bandwidth, bandwidth > 0 {
            facts.bitRates.encoded = Double(bandwidth)
            // A variant's declared bandwidth includes all media that belongs to it.
            facts.bitRates.isAggregate = source.hasOtherMedia
        }
        return ClientDataNote(facts)
    }

    /// The error for a decrypted segment of an unknown format, the same as in playback. Returns nil if there is no key
    /// or the key has decrypted other segments.
    private func unfit(_ key: ResourceID?, _ url: String) -> HLSError? {
        guard let key, !provenKeys.withLock({ $0.contains(key) }) else { return nil }
        guard client.keyRules.isGiven else { return HLSError(.wrongKey, url: key.url) }
        var error = HLSError(.wrongKey, url: url)
        error.cause = HLSError.unfitGivenKey
        return error
    }

    private struct Pieces {
        let url: String
        let range: Range<UInt64>?
        let source: String
        var clientData: ClientDataNote?
        /// The segment of a local file that is made instead of loaded.
        var container: ContainerBody?
        var size: Int?
        private(set) var isSmall = false
        private var offset: UInt64 = 0

        init(url: String, range: Range<UInt64>?, namedBy source: String) {
            self.url = url
            self.range = range
            self.source = source
        }

        mutating func next(_ client: ResourceClient) async throws -> (bytes: [UInt8], isEnd: Bool) {
            if let container {
                let bytes = try container.next()
                try Task.checkCancellation()
                return (bytes ?? [], bytes == nil)
            }
            let limit = AssetInspector.maximumSegmentByteCount
            guard let size else {
                let all = try await client.bytes(
                    url, .segment, range: range, limit: limit, namedBy: source, clientData: clientData)
                return (all, true)
            }
            let start = (range?.lowerBound ?? 0) + offset
            var end = start + UInt64(size)
            if let range { end = min(end, range.upperBound) }
            let bytes: [UInt8]
            do {
                bytes = try await client.bytes(
                    url, .segment, range: start..<end, limit: Int(end - start), namedBy: source,
                    mayBePastEnd: range == nil, clientData: clientData)
            } catch let error as HLSError where error.isPastEnd && range == nil {
                // The resource ends within the piece, or before it: its length is unknown.
                if offset == 0 { isSmall = true }
                let all = try await client.bytes(
                    url, .segment, limit: limit, namedBy: source, clientData: clientData)
                return (Array(all.dropFirst(Int(clamping: offset))), true)
            }
            offset += UInt64(bytes.count)
            self.size = min(size * 2, max(size, FrameStore.pieceByteCount.most))
            return (bytes, end == range?.upperBound)
        }
    }

    /// - Parameter wholeKey: Receives the key if the segment is encrypted as a whole.
    private func reader(
        for segment: MediaSegment, of playlist: MediaPlaylist, encryptedWith wholeKey: inout ResourceID?
    ) async throws -> FrameReader {
        var decryption: DecryptionBox?
        var samples: SampleDecryption?
        if let (key, bytes) = try await key(among: segment.keys, of: segment, in: playlist) {
            let vector = key.initializationVector
            if key.isOfSamples {
                samples = try? SampleDecryption(key: bytes, vector: vector)
            } else {
                decryption = try DecryptionBox(key: bytes, vector: vector)
                wholeKey = key.resource
            }
        }
        guard let map = segment.map else { return FrameReader(decryption: decryption, sampleDecryption: samples) }
        let bytes = try await initialization(map, of: segment, in: playlist)
        // The tables of a transport stream.
        if bytes.first == 0x47 {
            return FrameReader(tables: bytes, decryption: decryption, sampleDecryption: samples)
        }
        return FrameReader(
            initialization: try MP4InitializationSection(parsing: bytes[...]), decryption: decryption,
            sampleDecryption: samples)
    }

    private func initialization(
        _ map: MediaInitializationSection, of segment: MediaSegment, in playlist: MediaPlaylist
    ) async throws -> [UInt8] {
        guard let url = playlist.resolve(map.uri) else {
            throw HLSError(code: .badPlaylist, urlString: playlist.url, cause: "a URI cannot be resolved")
        }
        let id = MapID(url: url, range: map.loadedRange)
        let key = try await key(among: map.keys, of: segment, in: playlist)
        let client = client
        return try await kept(maps, id) { [self] in
            let bytes = try await client.bytes(
                url, .initializationSection, range: id.range, limit: AssetInspector.maximumSegmentByteCount,
                namedBy: playlist.url)
            // Encryption of single samples leaves the section in the clear.
            guard let (key, secret) = key, !key.isOfSamples else { return bytes }
            do {
                let box = try DecryptionBox(key: secret, vector: key.initializationVector)
                return try box.decryptWhole(bytes)
            } catch let error as DecryptionError {
                throw error.code == .badPadding
                    ? unfit(key.resource, url) ?? HLSError(error, url: url) : HLSError(error, url: url)
            }
        }
    }

    private func key(
        among keys: [EncryptionKey], of segment: MediaSegment, in playlist: MediaPlaylist
    ) async throws -> (SegmentKey, [UInt8])? {
        guard
            let key = try client.keyRules.choose(
                of: keys, base: playlist.url, mediaSequence: segment.mediaSequence)
        else { return nil }
        let client = client
        let bytes = try await kept(self.keys, key.resource) {
            try await client.key(key.resource, namedBy: playlist.url).bytes
        }
        return (key, bytes)
    }

    /// Returns a loaded resource. A failure is not kept.
    private func kept<Key: Hashable & Sendable, Value: Sendable>(
        _ loads: SharedLoads<Key, Value>, _ key: Key, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await loads.value(for: key, work)
        } catch {
            loads.forget(key)
            throw error
        }
    }

    // MARK: Parameter sets

    /// Loads the parameter sets that a decoder needs before a segment without its own. They come from the first frame of
    /// the discontinuity sequence. Muxers repeat them only in front of IDR frames, and a segment need not begin with one.
    ///
    /// This costs the first bytes of the sequence's first segment, once.
    func parameterSets(of index: Int, in source: FrameSource) async throws -> [UInt8] {
        let firsts = earlierSegments(of: index, in: source)
        guard !firsts.isEmpty else { return [] }
        let id = AnchorID(
            playlist: source.playlist.url, sequence: source.playlist.segments[index].discontinuitySequence)
        return try await kept(parameterSets, id) { [self] in
            var sets: [UInt8] = []
            _ = try await readFirst(of: firsts, in: source) { output, reader in
                guard let track = reader.track, let sample = output.samples.first(where: \.isSync) else { return false }
                sets = PictureParameterSets.copy(of: sample, track.codec)
                return true
            }
            return sets
        }
    }

    private func readFirst(
        of segments: [Int], in source: FrameSource,
        _ body: (FrameReader.Output, FrameReader) async throws -> Bool
    ) async throws -> Int? {
        for segment in segments {
            do {
                try await read(segment, of: source, .head, body)
                return segment
            } catch let error as HLSError where error.code == .notFound {}
        }
        return nil
    }

    /// The first earlier segments of the discontinuity sequence that are not gaps. They provide its parameter sets and
    /// its place on the timeline.
    private func earlierSegments(of index: Int, in source: FrameSource) -> [Int] {
        let segments = source.playlist.segments
        let sequence = segments[index].discontinuitySequence
        var first = index
        while first > 0, segments[first - 1].discontinuitySequence == sequence { first -= 1 }
        return Array((first..<index).filter { !segments[$0].isGap }.prefix(Self.maximumEarlierCount))
    }

    // MARK: Times

    /// Returns the same timeline as playback from the start of the segment's discontinuity sequence.
    ///
    /// This costs the first bytes of the sequence's first segment, once.
    func timeline(of index: Int, in source: FrameSource) async throws -> ItemTimeline {
        let firsts = earlierSegments(of: index, in: source)
        guard !firsts.isEmpty else { return ItemTimeline() }
        let sequence = source.playlist.segments[index].discontinuitySequence
        let id = AnchorID(playlist: source.playlist.url, sequence: sequence)
        return try await kept(anchors, id) { [self] in
            var found: (pts: Int64, track: MediaTrack)?
            let first = try await readFirst(of: firsts, in: source) { output, _ in
                found = output.first
                return found != nil
            }
            var timeline = ItemTimeline()
            guard let first, let (pts, track) = found else { return timeline }
            _ = timeline.placement(
                for: sequence, lane: .main, firstPTS: pts, track: track, segmentStart: source.starts[first])
            return timeline
        }
    }
}

extension HLSError {
    fileprivate var isPastEnd: Bool { cause == HLSError.noSuchRange || detail == "HTTP 416" }

    static func noVideo(_ url: String) -> HLSError {
        HLSError(code: .badMedia, urlString: url, cause: "the stream has no video")
    }
}
