/// The part of a track's edit list (`elst`) that players apply: the start and end of its media.
///
/// The media time `media_time` of the first edit is presented after the initial empty edit. Consecutive edits without a
/// gap in the media are one edit. Other edits would cut or repeat the media. They are ignored, and the media continues
/// to its end.
///
/// Source: ISO/IEC 14496-12 §8.6.6.
struct EditList: Sendable, Hashable {
    /// The value to add to media timestamps to get presentation times, in units of the track's timescale.
    private(set) var shift: Int64 = 0
    private(set) var shown: Range<Int64>?

    init() {}

    init(
        parsing box: BoxReader, movieTimescale: UInt32, track: MediaTrack, notes: inout [String]
    ) throws(MediaError) {
        var reader = box
        let is64Bit = try reader.readVersionAndFlags().version == 1
        let count = try reader.readUInt32()
        var empty: UInt64 = 0
        var first: Edit?
        // In units of the movie's timescale. nil means to the end.
        var length: UInt64? = 0
        for _ in 0..<count {
            let edit = try Edit(&reader, is64Bit: is64Bit)
            guard let time = edit.mediaTime else {
                guard first == nil else { continue }
                let (sum, overflow) = empty.addingReportingOverflow(edit.duration)
                guard !overflow else { throw reader.malformed("an empty edit beyond 2^64") }
                empty = sum
                continue
            }
            guard let begun = first else {
                first = edit
                length = edit.duration > 0 ? edit.duration : nil
                continue
            }
            // A difference of one unit in either timescale is not a gap.
            let slack = 1 + Int64(track.timescale) / Int64(max(movieTimescale, 1))
            guard let known = length, edit.duration > 0,
                let start = begun.mediaTime, let end = Self.ticks(known, movieTimescale, track),
                abs(time.subtractingReportingOverflow(start + end).partialValue) <= slack
            else {
                notes.append("track \(track.id): edits after the first are not applied")
                length = nil
                break
            }
            let (sum, overflow) = known.addingReportingOverflow(edit.duration)
            length = overflow ? nil : sum
        }
        guard let time = first?.mediaTime else { return }
        guard movieTimescale > 0 || empty == 0 else { throw reader.malformed("a movie timescale of 0") }
        guard let delay = Self.ticks(empty, movieTimescale, track) else {
            throw reader.malformed("an edit out of range")
        }
        shift = delay - time
        var end = Int64.max
        if movieTimescale > 0, let length, let ticks = Self.ticks(length, movieTimescale, track) {
            // Audio is cut at the exact sample, but not because of the coarser units of the movie.
            let slack = track.mediaType == .audio ? Int64(track.timescale) / Int64(movieTimescale) : 0
            end = delay + ticks + slack
        }
        if end > delay { shown = delay..<end }
    }

    private struct Edit {
        var duration: UInt64
        /// nil for an empty edit.
        var mediaTime: Int64?

        init(_ reader: inout BoxReader, is64Bit: Bool) throws(MediaError) {
            duration = try reader.readUInt(is64Bit: is64Bit)
            let time: Int64
            if is64Bit {
                time = Int64(bitPattern: try reader.readUInt64())
            } else {
                time = Int64(Int32(bitPattern: try reader.readUInt32()))
            }
            try reader.skip(4)  // rate
            guard time <= MediaTimeLimit.largest else { throw reader.malformed("an edit out of range") }
            mediaTime = time < 0 ? nil : time
        }
    }

    /// Converts units of the movie's timescale to the track's timescale, or returns nil if out of range.
    ///
    /// The result is rounded to the nearest unit as in ffmpeg, because writers choose the two timescales so that they
    /// cancel out.
    private static func ticks(_ duration: UInt64, _ movieTimescale: UInt32, _ track: MediaTrack) -> Int64? {
        let divisor = UInt64(max(movieTimescale, 1))
        let (high, low) = duration.multipliedFullWidth(by: UInt64(track.timescale))
        guard high == 0, low <= UInt64(MediaTimeLimit.largest) else { return nil }
        return Int64((low + divisor / 2) / divisor)
    }
}
