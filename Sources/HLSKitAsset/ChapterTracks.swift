import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import HLSKitTime

/// Reads the chapter tracks of an MP4 file: tracks of text with the titles, one for each language, and of pictures.
///
/// Source: QuickTime File Format, "Chapter Lists".
struct ChapterTracks {
    /// Gaps between two samples up to this size are read with them: a request costs more.
    private static let gapByteCount = 64 << 10
    /// Chapters whose samples lie further apart, or are larger together, are not read beyond these.
    private static let maximumRequestCount = 256
    private static let maximumByteCount = 8 << 20
    private static let maximumChapterCount = 4096

    let url: String
    let header: MP4InitializationSection

    /// The tables of the tracks; empty if the file has no chapter tracks.
    var tables: [MP4SampleTable.Track] {
        let ids = header.chapterTrackIDs
        guard !ids.isEmpty else { return [] }
        let tables = MP4SampleTable(header).tracks
        return ids.compactMap { id in tables.first { $0.track.id == id } }
            .filter { [.text, .video].contains($0.track.mediaType) }
    }

    /// The chapters, without an order. Makes requests for their samples.
    func chapters(_ client: ResourceClient) async throws -> [Chapters.Chapter] {
        var found: [MediaTime: Chapters.Chapter] = [:]
        // The titles first: where pictures go beyond the limits they are still there.
        for table in tables.sorted(by: { $0.track.mediaType == .text && $1.track.mediaType != .text }) {
            let samples = Array(table.samples.prefix(Self.maximumChapterCount)).filter { $0.byteCount > 0 }
            guard let bytes = try await self.bytes(of: samples, client) else { continue }
            for (sample, content) in zip(samples, bytes) {
                let start = max(.zero, MediaTime(value: sample.pts, timescale: table.track.timescale))
                if table.track.mediaType == .text {
                    var chapter = found[start] ?? Chapters.Chapter(start: start)
                    chapter.duration = MediaTime(value: sample.duration, timescale: table.track.timescale)
                    let title = ChapterTitle.text(ofSample: content)
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

    /// The bytes of each sample; nil if they are beyond the limits.
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
