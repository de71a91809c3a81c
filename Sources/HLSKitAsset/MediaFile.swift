import HLSKitLoading
package import HLSKitMedia
import HLSKitSelection
package import HLSKitTime

/// A media file without a playlist, as described by its start and its end.
package struct MediaFile: Sendable {
    package enum Content: Sendable {
        case mp4(MP4InitializationSection, MP4UserData, SegmentIndex?)
        /// A transport stream or packed audio.
        case elementary(MediaHead)
        case container(ContainerFile)
    }

    /// The URL of the file after redirects.
    package var url: String
    /// The size of the file, or `nil` if the server does not report it.
    var byteCount: Int?
    package var content: Content
    /// The range of an MP4 file's `moov` box, and whether it follows the media.
    package var movieRange: Range<Int>?
    var isHeaderAfterMedia = false
    /// The `ftyp` and `moov` boxes of an MP4 file.
    var headerBytes: [UInt8] = []
}

package struct MediaFileFacts: Sendable {
    package var tracks: [TrackFacts]
    package var duration: MediaTime
}

extension MediaFile {
    /// The size of the first range that is requested in search of an MP4 file's header.
    private static let rangeByteCount = 64 << 10
    private static let maximumRangeByteCount = 8 << 20
    /// The size of the end of a transport stream that is read for its last timestamps.
    private static let tailByteCount = 1 << 20
    /// The maximum size of a local file that is read completely to find its duration.
    private static let smallLocalByteCount = 256 << 20

    /// Requests more ranges until the header of an MP4 file is complete.
    static func open(
        _ scanner: MP4HeaderScanner, url: String, byteCount: Int, client: ResourceClient
    ) async throws -> MediaFile {
        var scanner = scanner
        var step = rangeByteCount
        var header: MP4HeaderScanner.Header?
        do {
            while header == nil, scanner.offset < byteCount {
                let start = scanner.offset
                let end = min(start + step, byteCount)
                let bytes = try await client.bytes(
                    url, .segment, range: UInt64(start)..<UInt64(end), limit: end - start, namedBy: nil)
                header = try scanner.append(bytes[...])
                step = min(max(scanner.missingByteCount ?? rangeByteCount, 16), maximumRangeByteCount)
            }
            return try await MediaFile(
                try header ?? scanner.finish(), url: url, byteCount: byteCount, client: client)
        } catch let error as MediaError {
            throw HLSError(error, url: url)
        }
    }

    init(_ header: MP4HeaderScanner.Header, url: String, byteCount: Int?, client: ResourceClient) async throws {
        self.url = url
        self.byteCount = byteCount
        movieRange = header.movieRange
        isHeaderAfterMedia = header.isAfterMedia
        headerBytes = header.bytes
        let index = try await FileIndex(url: url, byteCount: byteCount, client: client).whole(header.index)
        do {
            content = .mp4(
                try MP4InitializationSection(parsing: header.bytes[...]), MP4UserData(parsing: header.bytes[...]),
                index)
        } catch {
            throw HLSError(error, url: url)
        }
    }

    init(_ container: ContainerFile) {
        url = container.url
        byteCount = container.byteCount
        content = .container(container)
    }

    init(_ head: MediaHead, url: String, byteCount: Int?) {
        self.url = url
        self.byteCount = byteCount
        content = .elementary(head)
    }

    // MARK: Facts

    /// Loads the tracks and the duration, which is exact if it comes from a header or the whole file.
    func facts(client: ResourceClient) async throws -> MediaFileFacts {
        var facts = try await factsOfMedia(client)
        guard case .mp4(_, let data, _) = content else { return facts }
        for index in facts.tracks.indices {
            facts.tracks[index].metadata = MetadataItem.items(
                of: data.trackEntries[facts.tracks[index].description.id] ?? [])
        }
        return facts
    }

    private func factsOfMedia(_ client: ResourceClient) async throws -> MediaFileFacts {
        switch content {
        case .mp4(let header, _, let index):
            let table = MP4SampleTable(header)
            if !table.tracks.isEmpty {
                let facts = header.tracks.map { track in
                    table.tracks.first { $0.track.id == track.id }.map { TrackFacts(track, table: $0) }
                        ?? TrackFacts(track, extent: nil, origin: 0, duration: .zero)
                }
                let end = facts.map(\.timeRange.end).filter(\.isNumeric).max() ?? .indefinite
                return MediaFileFacts(tracks: facts, duration: end)
            }
            if let index { return Self.facts(header.tracks, duration: Self.duration(of: index)) }
            guard reads(client) else { return try await estimatedFacts(client) }
            return Self.facts(of: try await readAll(client), duration: nil)
        case .elementary(let head):
            if head.isWhole { return Self.facts(of: head, duration: nil) }
            if client.options.prefersPreciseDurationAndTiming {
                return Self.facts(of: try await readAll(client), duration: nil)
            }
            return Self.facts(of: head, duration: try await estimatedDuration(head, client: client))
        case .container(let file):
            var facts = Self.facts(file.tracks, duration: file.duration.map { MediaTime($0) } ?? .indefinite)
            for (index, rate) in file.frameRates.enumerated() { facts.tracks[index].declaredFrameRate = rate }
            return facts
        }
    }

    private func reads(_ client: ResourceClient) -> Bool {
        if client.options.prefersPreciseDurationAndTiming { return true }
        return url.lowercased().hasPrefix("file:") && byteCount ?? .max <= Self.smallLocalByteCount
    }

    private func readAll(_ client: ResourceClient) async throws -> MediaHead {
        try await client.load(url, .segment, limit: .max, namedBy: nil) {
            MediaHeadReader(.all, declared: client.options.declaredKind?.container)
        }
    }

    private func estimatedFacts(_ client: ResourceClient) async throws -> MediaFileFacts {
        let head = try await client.load(url, .segment, limit: .max, namedBy: nil) {
            MediaHeadReader(.estimate, declared: client.options.declaredKind?.container)
        }
        if head.isWhole { return Self.facts(of: head, duration: nil) }
        let known = Self.facts(of: head, duration: nil).duration
        guard let byteCount, head.byteCount > 0, known > .zero else {
            return Self.facts(of: head, duration: .indefinite)
        }
        let ratio = max(1, Double(byteCount) / Double(head.byteCount))
        return Self.facts(of: head, duration: Self.rounded(known.multiplied(by: ratio)))
    }

    private static func facts(_ tracks: [MediaTrack], duration: MediaTime) -> MediaFileFacts {
        MediaFileFacts(
            tracks: tracks.map { TrackFacts($0, extent: nil, origin: 0, duration: duration) }, duration: duration)
    }

    /// - Parameter duration: The duration, or `nil` to compute it from the samples.
    private static func facts(of head: MediaHead, duration: MediaTime?) -> MediaFileFacts {
        let origin = head.origin
        let tracks = head.tracks.map { track in
            let own = head.extents[track.id]
            let start = origin.converted(to: track.timescale).value
            let end = own.map { MediaTime(value: $0.end - start, timescale: track.timescale) }
            var facts = TrackFacts(
                track, extent: own, origin: start, duration: duration ?? end ?? .zero)
            facts.metadata = track.mediaType == .audio ? head.tags.flatMap(MetadataItem.items(of:)) : []
            return facts
        }
        let longest = tracks.map(\.timeRange.end).filter(\.isNumeric).max() ?? .indefinite
        return MediaFileFacts(tracks: tracks, duration: duration ?? longest)
    }

    private static func duration(of index: SegmentIndex) -> MediaTime {
        let sum = index.references.reduce(Int64(0)) { $0 + Int64($1.duration) }  // 2^16 numbers of 32 bits
        guard let timescale = Int32(exactly: index.timescale) else { return .indefinite }
        return MediaTime(value: sum, timescale: timescale)
    }

    /// Estimates the duration from the last timestamps of a transport stream or the mean bit rate of packed audio.
    private func estimatedDuration(_ head: MediaHead, client: ResourceClient) async throws -> MediaTime {
        guard let byteCount, byteCount > head.byteCount else { return .indefinite }
        let origin = head.origin
        guard let packed = head.tracks.first(where: { $0.mediaType == .audio }), head.tracks.allSatisfy(\.isPacked)
        else {
            let start = max(0, byteCount - Self.tailByteCount)
            let tail: MediaHead
            do {
                tail = try await client.load(
                    url, .segment, range: UInt64(start)..<UInt64(byteCount), limit: byteCount - start, namedBy: nil
                ) { MediaHeadReader(.all, declared: client.options.declaredKind?.container) }
            } catch let error as HLSError where error.code == .badMedia {
                return .indefinite
            }
            return tail.end(after: origin).map { Self.rounded($0 - origin) } ?? .indefinite
        }
        guard let extent = head.extents[packed.id], extent.byteCount > 0 else { return .indefinite }
        let known = MediaTime(value: extent.end - extent.first, timescale: packed.timescale)
        return Self.rounded(known.multiplied(by: Double(byteCount) / Double(max(1, head.byteCount))))
    }

    private static func rounded(_ time: MediaTime) -> MediaTime {
        guard time.isNumeric else { return .indefinite }
        var time = time
        time.flags.insert(.hasBeenRounded)
        return time
    }
}

extension MediaTrack {
    /// Whether the track is from packed audio. Its tracks are 0 and 1, and a transport stream's begin at 16.
    var isPacked: Bool { id < 16 && wrapsAt33Bits }
}

extension MediaHead {
    var origin: MediaTime {
        tracks.compactMap { track in
            extents[track.id].map { MediaTime(value: $0.first, timescale: track.timescale) }
        }.min() ?? .zero
    }

    /// The latest end of all tracks, with wraps of 33 bits added until it is after `origin`.
    func end(after origin: MediaTime) -> MediaTime? {
        let ends = tracks.compactMap { track -> MediaTime? in
            guard let extent = extents[track.id], extent.count > 0 else { return nil }
            var end = MediaTime(value: extent.end, timescale: track.timescale)
            if track.wrapsAt33Bits, end < origin { end += MediaTime(value: 1 << 33, timescale: track.timescale) }
            return end
        }
        return ends.max()
    }
}
