import HLSKitCaptions
import HLSKitMedia
import HLSKitTime

/// The text tracks of an MP4 file, by track index. Their overlapping texts become consecutive samples.
///
/// The methods return the samples that are final, with the latest properties of all tracks.
struct MovieTexts {
    /// The maximum time by which a text may arrive later than the frames that it is shown with.
    static let patience = MediaTime(value: 2, timescale: 1)

    private var flatteners: [Int: TextFlattener] = [:]

    mutating func add(_ entry: TrackSplice.Entry, _ tracks: [MediaTrack]) -> [TrackSplice.Entry] {
        let (sample, index) = (entry.sample, entry.index)
        let length = MediaTime(value: max(0, sample.duration), timescale: tracks[index].timescale)
        let text = sample.data.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let settled = flatteners[index, default: TextFlattener()]
            .add(text, in: MediaTimeRange(start: entry.itemTime, duration: length))
        return Self.entries(settled, ofTrackAt: index, tracks)
    }

    /// Returns the texts before a time. Texts with the same start time arrive together, somewhat ahead of the video.
    mutating func settle(before time: MediaTime, _ tracks: [MediaTrack]) -> [TrackSplice.Entry] {
        flatteners.keys.sorted().flatMap { index in
            Self.entries(flatteners[index]?.settle(until: time) ?? [], ofTrackAt: index, tracks)
        }
    }

    mutating func finish(_ tracks: [MediaTrack]) -> [TrackSplice.Entry] {
        defer { flatteners = [:] }
        return flatteners.keys.sorted().flatMap { index in
            Self.entries(flatteners[index]?.finish() ?? [], ofTrackAt: index, tracks)
        }
    }

    private static func entries(
        _ groups: [CaptionGroup], ofTrackAt index: Int, _ tracks: [MediaTrack]
    ) -> [TrackSplice.Entry] {
        let scale = tracks[index].timescale
        func ticks(_ time: MediaTime) -> Int64 { rescaled(time.value, from: time.timescale, to: scale) }
        return groups.filter(\.timeRange.end.isNumeric).map { group in
            let (start, end) = (ticks(group.timeRange.start), ticks(group.timeRange.end))
            let (length, overflow) = end.subtractingReportingOverflow(start)
            let text = group.captions.map(\.text).joined(separator: "\n")
            let sample = MediaSample(
                trackID: index, pts: start, dts: start, duration: overflow ? .max : length, isSync: true,
                data: timedText(Array(text.utf8)))
            return TrackSplice.Entry(
                sample: sample, index: index, itemTime: MediaTime(value: start, timescale: scale))
        }
    }

    /// Returns text with its length in front, as in MP4 (3GPP TS 26.245, 5.17).
    private static func timedText(_ text: [UInt8]) -> SampleData {
        let text = text.prefix(0xFFFF)
        return SampleData([UInt8(text.count >> 8), UInt8(text.count & 0xFF)] + text)
    }
}
