import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import HLSKitTime

/// Reads the chapter tracks of an MP4 file: one text track with titles for each language, and image tracks.
///
/// Source: QuickTime File Format, "Chapter Lists".
struct ChapterTracks {
    /// Gaps between two samples up to this size are loaded too, because another request costs more.
    private static let gapByteCount = 64 << 10
    /// Limits on the requests and bytes for chapter samples. Samples beyond the limits are not read.
    private static let maximumRequestCount = 256
    private static let maximumByteCount = 8 << 20
    private static let maximumChapterCount = 4096

    let url: String
    let header: MP4InitializationSection

    var tables: [MP4SampleTable.Track] {
        let ids = header.chapterTrackIDs
        guard !ids.isEmpty else { return [] }
        let tables = MP4SampleTable(header).tracks
        return ids.compactMap { id in tables.first { $0.track.id == id } }
            .filter { [.text, .video].contains($0.track.mediaType) }
    }

    /// Loads the chapters, unordered. Makes requests for their samples.
    func chapters(_ client: ResourceClient) async throws -> [Chapters.Chapter] {
        var found: [MediaTime: Chapters.Chapter] = [:]
        // Read titles first, so that they are available even if the images exceed the limits.
        for table in tables.sorted(by: { $0.track.mediaType == .text && $1.track.mediaType != .text }) {
            let samples = Array(table.samples.prefix(Self.maximumChapterCount)).filter { $0.byteCount > 0 }
            guard let bytes = try await self.bytes(of: samples, client) else { continue }
            for (sample, content) in zip(samples, bytes) {
                let start = max(.zero, MediaTime(value: sample.pts, timescale: table.track.timescale))
                if table.track.mediaType == .text {
                    var chapter = found[start] ?? Chapters.Chapter(start: start)
                    chapter.duration = MediaTime(value: sample.duration, timescale: table.track.timescale)
                    let title = MP4TextSample(parsing: content, of: table.track).text
                    chapter.titles.append((table.track.language ?? "und", title))
                    found[start] = chapter
                } else {
                    found[start]?.items.append(
                        MetadataItem(
                            .quickTimeMetadata, key: "com.apple.quicktime.artwork", common: .artwork,
                            value: .data(Array(content))))
                }
            }
        }
        return Array(found.values)
    }

    /// The bytes of each sample, or `nil` if they exceed the limits.
    private func bytes(
        of samples: [MP4SampleTable.Sample], _ client: ResourceClient
    ) async throws -> [ArraySlice<UInt8>]? {
        var ranges: [Range<Int>] = []
        for sample in samples.sorted(by: { $0.offset < $1.offset }) {
            let (end, overflow) = sample.offset.addingReportingOverflow(sample.byteCount)
            guard !overflow else { return nil }
            if let last = ranges.last, sample.offset <= last.upperBound + Self.gapByteCount {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, end)
            } else {
                ranges.append(sample.offset..<end)
            }
        }
        guard ranges.count <= Self.maximumRequestCount,
            ranges.reduce(0, { $0.addingReportingOverflow($1.count).partialValue }) <= Self.maximumByteCount,
            ranges.allSatisfy({ $0.count <= Self.maximumByteCount })
        else { return nil }
        var parts: [(range: Range<Int>, bytes: [UInt8])] = []
        for range in ranges {
            let bytes = try await client.bytes(
                url, .segment, range: UInt64(range.lowerBound)..<UInt64(range.upperBound), limit: range.count,
                namedBy: nil)
            parts.append((range, bytes))
        }
        return samples.map { sample in
            guard let part = parts.first(where: { $0.range.contains(sample.offset) }) else { return [] }
            return part.bytes.dropFirst(sample.offset - part.range.lowerBound).prefix(sample.byteCount)
        }
    }
}
