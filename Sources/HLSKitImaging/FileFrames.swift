import HLSKitAsset
import HLSKitCodec
import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitPlayback
import HLSKitTime

/// Finds frames in an MP4 file whose header lists the position of each sample. It loads only the required samples.
struct FileFrames: Sendable {
    let url: String
    let track: MediaTrack
    private let table: MP4SampleTable.Track
    private let offset: Duration
    /// The largest range, in bytes, from the first to the last sample of a frame that is loaded.
    private static let maximumByteCount = 128 << 20

    init?(_ header: MP4InitializationSection, url: String) {
        let table = MP4SampleTable(header)
        guard let video = table.tracks.first(where: { $0.track.mediaType == .video }),
            let first = video.samples.first(where: { _ in true })
        else { return nil }
        self.url = url
        self.table = video
        track = video.track
        var timeline = ItemTimeline()
        offset =
            timeline.placement(
                for: 0, lane: .main, firstPTS: first.pts, track: video.track, segmentStart: .zero
            ).offset
    }

    private func time(_ value: Int64) -> Duration {
        (ItemTimeline.duration(value, track.timescale) + offset).roundedDownToNanoseconds
    }

    /// Calls `found` for the requested times, in order.
    ///
    /// - Parameter wishes: The requested times, in ascending order.
    func find(
        _ requests: [RequestedImage], _ options: ImageOptions, client: ResourceClient,
        _ found: (RequestedImage, Frame) async throws -> Void
    ) async throws {
        let requests = requests[...]
        var iterator = table.samples.makeIterator()
        var groups: [Group] = []
        var group = Group()
        var open = requests
        // Collects the samples for each time, from the last sync sample before it up to its own sample.
        while let sample = iterator.next(), !open.isEmpty {
            while let request = open.first, !group.samples.isEmpty, time(sample.dts) > request.time {
                group.requests.append(request)
                open = open.dropFirst()
            }
            if sample.isSync, let request = open.first, time(sample.pts) <= request.time || group.samples.isEmpty {
                if !group.requests.isEmpty { groups.append(group) }
                group = Group()
            } else if group.samples.isEmpty, !sample.isSync {
                continue
            }
            group.samples.append(sample)
        }
        group.requests += open
        if !group.requests.isEmpty, !group.samples.isEmpty { groups.append(group) }
        for group in groups { try await take(group, options, client, found) }
    }

    private struct Group {
        var samples: [MP4SampleTable.Sample] = []
        var requests: [RequestedImage] = []
    }

    private func take(
        _ group: Group, _ options: ImageOptions, _ client: ResourceClient,
        _ found: (RequestedImage, Frame) async throws -> Void
    ) async throws {
        guard let first = group.samples.first else { return }
        let start = time(first.pts)
        let cheap = options.isExact ? [] : group.requests.filter { options.allows(start, for: $0.time) }
        let exact = group.requests.filter { !cheap.contains($0) }
        let wanted = exact.isEmpty ? [first] : group.samples
        let samples = try await load(wanted, client)
        if !cheap.isEmpty, let sample = samples.first {
            guard let frame = try FrameDecoding.single(sample, of: track, offset: offset) else {
                throw CodecError.noFrame
            }
            for request in cheap { try await found(request, frame) }
        }
        guard !exact.isEmpty else { return }
        let placed = samples.map { FrameFinder.Placed(sample: $0, pts: time($0.pts), dts: time($0.dts)) }
        let find = FrameFinder.Find(samples: placed, requests: exact)
        try await FrameDecoding.frames(of: find, track: track, offset: offset) { request, frame in
            try await found(request, frame)
        }
    }

    /// Loads samples in one request, including any data between them.
    private func load(_ samples: [MP4SampleTable.Sample], _ client: ResourceClient) async throws -> [MediaSample] {
        let start = samples.map(\.offset).min() ?? 0
        let end = samples.map { $0.offset + $0.byteCount }.max() ?? 0
        guard track.encryption == nil else {
            throw HLSError(code: .contentKey, urlString: url, cause: "the media is encrypted for a key system")
        }
        guard start >= 0, end > start, end - start <= Self.maximumByteCount else {
            throw HLSError(
                code: .badMedia, urlString: url, cause: "the media cannot be read",
                detail: "a frame of \(max(0, end - start)) bytes")
        }
        let bytes = try await client.bytes(
            url, .segment, range: UInt64(start)..<UInt64(end), limit: end - start, namedBy: nil)
        return try samples.map { sample in
            let at = sample.offset - start
            guard at + sample.byteCount <= bytes.count else {
                throw HLSError(code: .badMedia, urlString: url, cause: "the file ends before its samples do")
            }
            return MediaSample(
                trackID: track.id, pts: sample.pts, dts: sample.dts, duration: sample.duration, isSync: sample.isSync,
                data: SampleData(bytes[at..<at + sample.byteCount]))
        }
    }
}
