import HLSKitLoading
package import HLSKitMedia
import HLSKitSelection
package import HLSKitTime

/// A media file without a playlist, as far as its ends say.
package struct MediaFile: Sendable {
    package enum Content: Sendable {
        case mp4(MP4InitializationSection, MP4UserData, SegmentIndex?)
        /// A transport stream or packed audio.
        case elementary(MediaHead)
    }

    /// Where it was found, after redirects.
    package var url: String
    /// nil if the server does not say.
    var byteCount: Int?
    package var content: Content
    /// Of an MP4 file: where its `moov` box is, and whether media lies before it.
    package var movieRange: Range<Int>?
    var isHeaderBehindMedia = false
    /// Of an MP4 file: `ftyp` and `moov`.
    var headerBytes: [UInt8] = []

    var tags: [ID3Tag] { if case .elementary(let head) = content { head.tags } else { [] } }
}

/// The tracks of a media file and how long it is.
package struct MediaFileFacts: Sendable {
    package var tracks: [TrackFacts]
    package var duration: MediaTime
}

extension MediaFile {
    /// How much of an MP4 file is asked for at a time in search of its header.
    private static let rangeByteCount = 64 << 10
    private static let maximumRangeByteCount = 8 << 20
    /// How much of the end of a transport stream is read for its last timestamps.
    private static let tailByteCount = 1 << 20
    /// Local files up to this size are read whole if only that shows their duration.
    private static let smallLocalByteCount = 256 << 20

    /// Reads on, by ranges, until the header of an MP4 file is there.
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
        isHeaderBehindMedia = header.isBehindMedia
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

    init(_ head: MediaHead, url: String, byteCount: Int?) {
        self.url = url
        self.byteCount = byteCount
        content = .elementary(head)
    }

    // MARK: Facts

    /// The tracks, and the duration: exact if a header or the whole file gives it.
    func facts(client: ResourceClient) async throws -> MediaFileFacts {
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
        }
    }

    /// Whether all of the file is read for its duration.
    private func reads(_ client: ResourceClient) -> Bool {
        if client.options.prefersPreciseDurationAndTiming { return true }
        return url.lowercased().hasPrefix("file:") && byteCount ?? .max <= Self.smallLocalByteCount
    }

    private func readAll(_ client: ResourceClient) async throws -> MediaHead {
        try await client.load(url, .segment, limit: .max, namedBy: nil) {
            MediaHeadReader(.all, declared: client.options.declaredKind?.container)
        }
    }

    /// The facts of a fragmented file without an index, from its first fragments.
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

    /// - Parameter duration: nil to take it from the samples.
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

    /// From the last timestamps of a transport stream, or the mean bit rate of packed audio.
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

    /// Marks a time that was reckoned.
    private static func rounded(_ time: MediaTime) -> MediaTime {
        guard time.isNumeric else { return .indefinite }
        var time = time
        time.flags.insert(.hasBeenRounded)
        return time
    }
}

extension MediaTrack {
    /// Packed audio's tracks are 0 and 1; a transport stream has none below 16.
    var isPacked: Bool { id < 16 && wrapsAt33Bits }
}

extension MediaHead {
    /// The earliest timestamp of all tracks.
    var origin: MediaTime {
        tracks.compactMap { track in
            extents[track.id].map { MediaTime(value: $0.first, timescale: track.timescale) }
        }.min() ?? .zero
    }

    /// The latest end of all tracks, as many wraps of 33 bits later as bring it behind `origin`.
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
