import HLSKitAsset
public import HLSKitLoading
import HLSKitMedia
public import HLSKitOutput
import HLSKitPlaylist
import HLSKitTime

extension DownloadTask {
    /// The files that were written.
    public struct Files: Sendable, Hashable {
        /// The paths of the files.
        ///
        /// There are several files if the container could not hold a change of the stream.
        public var paths: [String] = []
        /// The time from the start of the file to the end of its last sample.
        public var duration = Duration.zero
        /// The segments that could not be read, each with the reason.
        public var unreadable: [String] = []
        /// Whether the media has video, but each of its frames depends on one before the start of the file.
        package var lacksVideo = false
        /// The times of the stream whose audio is missing although all segments were loaded.
        package var holes: [Range<Duration>] = []
    }

    /// Writes the media of the last run to a file, without decoding.
    ///
    /// Video and audio share one timeline, which continues across discontinuities. If the download is limited to a part
    /// of the stream, the file begins with the last sync frame at or before the start position. The file gets its name
    /// when it is complete on the disk. The method accesses only the disk, not the network.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - format: The format: `ts`, `mp4`, `mkv`, `aac` or `mp3`.
    ///   - overwrite: Whether an existing file may be replaced. The default is `false`.
    ///   - allowsUnreadable: Whether to write the file without segments that cannot be read, instead of failing. In
    ///     both cases, the next run loads those segments again. The default is `true`.
    ///   - note: Receives a text for each change to the media that was needed to fit the format.
    /// - Throws: ``HLSError`` with ``HLSError/Code/output`` if the file cannot be written. Other codes mean that the
    ///   download has no media, or that a required part of it is missing.
    public func write(
        to path: String, format: OutputFormat, overwrite: Bool = false, allowsUnreadable: Bool = true,
        note: @escaping WriterNote = { _ in }
    ) async throws(HLSError) -> Files {
        try await HLSError.typed {
            try await DiskThread.run(configuration.loading.clock) {
                try self.pack(
                    into: path, format: format, overwrite: overwrite, allowsUnreadable: allowsUnreadable, note: note)
            }
        }
    }

    private func pack(
        into path: String, format: OutputFormat, overwrite: Bool, allowsUnreadable: Bool, note: @escaping WriterNote
    ) throws -> Files {
        guard !configuration.keepsEncryption else {
            throw HLSError(code: .unsupported, path: path, text: "encrypted media can only be kept in a folder")
        }
        update { $0.phase = .writing }
        notices.report(progress)
        let plan = FilePacking.Plan(loaded.entries, loaded.window, format, configuration)
        if plan.entries.count < loaded.entries.count {
            note("a file holds one variant: the others stay in the folder")
        }
        guard let container = Remuxer.Container(format) else {
            throw HLSError(
                code: .unsupported, path: path, text: "\(format.rawValue) is not a download format")
        }
        if !container.holdsText, plan.entries.contains(where: { $0.lane.kind == .subtitles }) {
            note("\(format.rawValue) cannot hold subtitles: they are skipped; save them to a separate file")
        }
        if let failure = metadataFailure, container == .mp4 || container == .mkv {
            let url = failure.urlString.map { ": \(Redaction.urlWithoutQuery($0))" } ?? ""
            note("metadata of the stream is left out: \(failure.cause)\(url)")
        }
        // The muxed data must be on the disk until the file is complete.
        var isWritten = false
        defer { if !isWritten { try? folder.sync() } }
        var packing = try self.packing(for: plan, as: container)
        try finish(packing)
        if !packing.lateAudio.isEmpty, !packing.writesParts {
            packing = try packingAgain(after: packing, as: container)
            try finish(packing)
        }
        // The packing itself holds the receiver of notes, so use its copy of the stem.
        let stem = packing.stem
        packing.handOn { note($0.replacing(stem, with: Self.stem(of: path))) }
        for text in packing.omitted { note(text) }
        var files = Files()
        files.duration = packing.length
        files.lacksVideo = packing.lacksVideo
        files.holes = packing.holes
        files.unreadable = packing.problems.map { "\($0.segment.file?.name ?? ""): \($0.text)" }
        // Discard the segments, so that the next run requests them again.
        folder.discard(packing.problems.map(\.segment))
        downloaded.remove(Set(packing.problems.compactMap(\.segment.file?.name)))
        guard packing.length > .zero else {
            if let locked = packing.problems.first(where: \.isLocked) {
                throw HLSError(code: .contentKey, urlString: currentURL, cause: locked.text)
            }
            let wanted = plan.entries.reduce(into: Set<MediaKind>()) { $0.formUnion($1.wanted) }
            let kind = wanted == [.audio] ? "audio" : wanted == [.video] ? "video" : "media"
            throw HLSError(
                code: .badMedia, urlString: folder.path, cause: "the loaded media has no \(kind)",
                detail: files.unreadable.first)
        }
        guard files.unreadable.isEmpty || allowsUnreadable else {
            throw HLSError(
                code: .notAvailable, urlString: folder.path, cause: "a segment cannot be read",
                detail: files.unreadable.first
            )
        }
        if let hole = files.holes.first, !allowsUnreadable {
            throw HLSError(
                code: .incomplete, urlString: currentURL, cause: "audio is missing",
                detail: "from \(hole.lowerBound) to \(hole.upperBound)")
        }
        if packing.writesParts {
            files.paths = packing.paths
            isWritten = true
            return files
        }
        files.paths = Self.names(for: packing.paths.count, as: path, overwrite: overwrite)
        // Publish the first file last, because the download counts as complete once it exists.
        for (part, target) in zip(packing.paths, files.paths).reversed() {
            try folder.publish(
                part.split(separator: "/").last.map(String.init) ?? part, as: target, overwrite: overwrite)
        }
        if files.unreadable.isEmpty, let byteCount = DownloadFolder.byteCount(of: path) {
            try folder.add([.written(byteCount: byteCount)])
        }
        isWritten = files.unreadable.isEmpty
        return files
    }

    private func finish(_ packing: FilePacking) throws {
        try packing.finish { time in
            try Task.checkCancellation()
            update { $0.writtenDuration = time }
        }
    }

    /// Whether an earlier run completed the file but was interrupted before it removed the folder.
    package func isWritten(to path: String) async -> Bool {
        let journal = folder.journal
        guard let byteCount = journal.writtenByteCount, journal.identity == Self.identity(of: configuration.urlString)
        else {
            return false
        }
        return await DiskThread.run(configuration.loading.clock) { byteCount == DownloadFolder.byteCount(of: path) }
    }

    /// Names for this many files. If a number is taken, uses the next one, so that the media is not lost.
    private static func names(for count: Int, as path: String, overwrite: Bool) -> [String] {
        var names = [path]
        var number = 2
        while names.count < count {
            let name = Remuxer.numbered(path, number)
            number += 1
            if overwrite || DownloadFolder.byteCount(of: name) == nil { names.append(name) }
        }
        return names
    }

    private static func stem(of path: String) -> String {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: "."), dot > name else { return path }
        return String(path[..<dot])
    }

    /// The frame size of the stored video, for a file name, or `nil` if unknown. Reads the disk.
    package func pictureSize() async -> PixelSize? {
        await DiskThread.run(configuration.loading.clock) {
            if let size = self.packing?.pictureSize { return size }
            let entries = self.loaded.entries.filter { !$0.lane.isAuxiliary }
            guard let writer = try? OutputFormat.null.makeWriter(path: "-") else { return nil }
            var assembler = FileAssembler(self.folder, entries: entries, window: self.loaded.window, writer: writer)
            _ = try? assembler.step { _ in }
            return assembler.pictureSize
        }
    }

    /// Writes playlists into the folder, so that you can play the stored media through `index.m3u8`.
    ///
    /// You can play the folder from the disk or from any server. You can call the method while the download is running.
    /// A missing segment becomes a gap in the playlists. All segments are restored to complete files and remain so.
    ///
    /// The playlists keep everything that they listed before. A later task for the same folder can therefore add
    /// variants and languages.
    /// - Throws: ``HLSError`` with ``HLSError/Code/output``.
    public func writePlaylists() async throws(HLSError) {
        try await HLSError.typed { try await DiskThread.run(configuration.loading.clock) { try self.listFiles() } }
    }

    private func listFiles() throws {
        try folder.makeWhole()
        let journal = folder.journal
        var master = MultivariantPlaylist(url: "")
        master.hasIndependentSegments = false
        var main: DownloadJournal.Lane?
        // Earlier runs may have stored segments of variants that are not wanted any more.
        let chosen = Set(loaded.entries.map(\.lane.id))
        let lanes = journal.lanes.filter { chosen.isEmpty || $0.isListed || chosen.contains($0.id) }
            .filter { !journal.segments(of: $0.id).isEmpty }
        let wanted = lanes.filter { !$0.isAuxiliary } + lanes.filter(\.isAuxiliary)
        // Use the same target duration in all playlists, as required for playlists that are played together.
        let targetDuration = wanted.map { DownloadPlaylist.targetDuration(of: $0, journal) }.max()
        for lane in wanted {
            let uri = DownloadLane.folder(of: lane) + ".m3u8"
            _ = try folder.write(DownloadPlaylist(lane, journal, targetDuration: targetDuration).text, to: uri)
            switch lane.kind {
            case .main:
                main = main ?? lane
                master.variants.append(
                    VariantStream(
                        uri: uri, bandwidth: max(1, lane.bandwidth),
                        averageBandwidth: lane.averageBandwidth > 0 ? lane.averageBandwidth : nil,
                        codecsText: lane.codecs, resolution: lane.size, frameRate: lane.frameRate.flatMap { Double($0) }
                    ))
                master.variants[master.variants.count - 1].videoRange = lane.videoRange.map { VideoRange(rawValue: $0) }
            case .audio: master.renditions.append(Rendition(lane, .audio, name: lane.name ?? uri, uri: uri))
            case .subtitles: master.renditions.append(Rendition(lane, .subtitles, name: lane.name ?? uri, uri: uri))
            }
        }
        guard let main else { return }
        // Audio in the variant can be chosen only if the group of the other languages lists it.
        if let name = main.name, master.renditions.contains(where: { $0.type == .audio }) {
            master.renditions.insert(Rendition(main, .audio, name: name, uri: nil), at: 0)
        }
        for index in master.variants.indices {
            if master.renditions.contains(where: { $0.type == .audio }) { master.variants[index].audio = "audio" }
            if master.renditions.contains(where: { $0.type == .subtitles }) {
                master.variants[index].subtitles = "subtitles"
            }
        }
        _ = try folder.write(master.text, to: "index.m3u8")
        let news = wanted.filter { !$0.isListed }.map { lane in
            var lane = lane
            lane.isListed = true
            return DownloadJournal.Entry.lane(lane)
        }
        if !news.isEmpty { try folder.add(news) }
    }
}

extension Rendition {
    fileprivate init(_ lane: DownloadJournal.Lane, _ type: MediaType, name: String, uri: String?) {
        self.init(
            type: type, groupID: type == .audio ? "audio" : "subtitles", name: name, uri: uri,
            language: lane.language, isDefault: lane.isDefault, isAutoselect: true, isForced: lane.isForced)
        characteristicsText = lane.characteristics
        channels = lane.channels
    }
}

struct DownloadPlaylist {
    let text: [UInt8]

    /// The target duration in seconds: the longest segment, rounded to the nearest integer (rfc8216bis §4.4.3.1).
    static func targetDuration(of lane: DownloadJournal.Lane, _ journal: DownloadJournal) -> Int64 {
        let longest = journal.segments(of: lane.id).map(\.duration).max() ?? 0
        return max(1, (longest + 500_000) / 1_000_000)
    }

    /// - Parameter targetDuration: The target duration in seconds, or `nil` to compute it from the lane's own segments.
    init(_ lane: DownloadJournal.Lane, _ journal: DownloadJournal, targetDuration: Int64? = nil) {
        let segments = journal.segments(of: lane.id)
        var playlist = MediaPlaylist(targetDuration: .seconds(1))
        playlist.version = 7
        playlist.hasEndList = true
        playlist.playlistType = .vod
        playlist.mediaSequence = max(0, segments.first?.sequence ?? 0)
        var before: DownloadJournal.Segment?
        var hasSkipped = false
        var list: [MediaSegment] = []
        for stored in segments {
            guard !stored.isSkipped else {
                hasSkipped = true
                continue
            }
            defer { hasSkipped = false }
            let changes =
                before.map {
                    hasSkipped || $0.discontinuity != stored.discontinuity || $0.epoch != stored.epoch
                        || $0.variant != stored.variant
                } ?? false
            // Sequence numbers that were skipped become gaps in the playlist.
            if let last = before, !changes,
                case let step = stored.sequence.subtractingReportingOverflow(last.sequence), !step.overflow,
                (2..<10_000).contains(step.partialValue)
            {
                let missing = stored.start - last.start - last.duration
                if missing > 0 {
                    let count = Int64(step.partialValue - 1)
                    for _ in 0..<count {
                        list.append(
                            MediaSegment(uri: "missing", duration: .microseconds(missing / count), isGap: true))
                    }
                }
            }
            list.append(Self.segment(stored, hasDiscontinuity: changes))
            before = stored
        }
        playlist.segments.append(contentsOf: list)
        playlist.targetDuration = .seconds(targetDuration ?? Self.targetDuration(of: lane, journal))
        text = playlist.text
    }

    private static func segment(_ stored: DownloadJournal.Segment, hasDiscontinuity: Bool) -> MediaSegment {
        MediaSegment(
            uri: stored.file?.name ?? "missing", duration: .microseconds(stored.duration),
            keys: keys(stored.key, stored.namedKeys),
            map: stored.map.map {
                MediaInitializationSection(uri: $0, keys: keys(stored.mapKey, stored.namedMapKeys))
            },
            hasDiscontinuity: hasDiscontinuity, isGap: stored.file == nil,
            programDateTime: stored.date.flatMap(PlaylistDate.init))
    }

    private static func keys(
        _ stored: DownloadJournal.Key?, _ named: [DownloadJournal.NamedKey]
    ) -> [EncryptionKey] {
        if let stored {
            return [EncryptionKey(method: .init(rawValue: stored.method), uri: stored.file, iv: stored.bytes)]
        }
        return named.map { key in
            EncryptionKey(
                method: .init(rawValue: key.method), uri: key.uri, iv: key.vector?.hexadecimalBytes,
                keyFormat: key.format, keyFormatVersions: key.formatVersions)
        }
    }
}

extension DownloadJournal.Lane {
    var size: Resolution? {
        let sides = resolution?.split(separator: "x").compactMap { Int($0) } ?? []
        return sides.count == 2 ? Resolution(width: sides[0], height: sides[1]) : nil
    }
}

extension DownloadJournal.Key {
    var bytes: [UInt8] { vector.hexadecimalBytes }
}

extension String {
    var hexadecimalBytes: [UInt8] {
        var bytes: [UInt8] = []
        var digits = utf8.lazy.map(\.hexadecimalValue).makeIterator()
        while let high = digits.next() ?? nil, let low = digits.next() ?? nil { bytes.append(high << 4 | low) }
        return bytes
    }
}
