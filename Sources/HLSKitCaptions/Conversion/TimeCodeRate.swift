import HLSKitTime

/// Converts frame numbers to hours, minutes, seconds and frames.
///
/// Source: SMPTE ST 12-1 §5.2.2 (drop frame).
struct TimeCodeRate: Hashable {
    /// The number of frames counted per second.
    let nominalRate: Int
    /// The fraction of these frames that actually pass per second.
    let multiplier: (numerator: Int, denominator: Int)
    /// Whether two frame numbers are skipped in each minute except each tenth. Only at 30 × 1000/1001 per second.
    let isDropFrame: Bool

    /// The rate of CEA-608: 30 × 1000/1001 frames per second.
    static let ntsc = TimeCodeRate(nominalRate: 30, multiplier: (1000, 1001), isDropFrame: false)
    static let ntscDropFrame = TimeCodeRate(nominalRate: 30, multiplier: (1000, 1001), isDropFrame: true)

    private init(nominalRate: Int, multiplier: (numerator: Int, denominator: Int), isDropFrame: Bool) {
        self.nominalRate = nominalRate
        self.multiplier = multiplier
        self.isDropFrame = isDropFrame
    }

    /// Returns nil unless a second has a whole number of frames (1 to 120), or a thousandth less.
    init?(frameDuration: MediaTime, isDropFrame: Bool) {
        guard frameDuration.isNumeric, frameDuration.value > 0 else { return nil }
        let rate = Double(frameDuration.timescale) / Double(frameDuration.value)
        let nominal = Int(min(rate, 1000).rounded(.up))
        guard (1...120).contains(nominal) else { return nil }
        if MediaTime(value: 1, timescale: Int32(nominal)) == frameDuration {
            self.init(nominalRate: nominal, multiplier: (1, 1), isDropFrame: false)
        } else if MediaTime(value: 1001, timescale: Int32(nominal * 1000)) == frameDuration {
            self.init(nominalRate: nominal, multiplier: (1000, 1001), isDropFrame: isDropFrame && nominal == 30)
        } else {
            return nil
        }
    }

    static func == (left: TimeCodeRate, right: TimeCodeRate) -> Bool {
        left.nominalRate == right.nominalRate && left.multiplier == right.multiplier
            && left.isDropFrame == right.isDropFrame
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(nominalRate)
        hasher.combine(multiplier.denominator)
        hasher.combine(isDropFrame)
    }

    private var timescale: Int32 { Int32(nominalRate * multiplier.numerator) }

    func time(ofFrame frame: Int64) -> MediaTime {
        MediaTime(value: frame * Int64(multiplier.denominator), timescale: timescale)
    }

    /// Returns the frame that begins nearest to `time`, or nil if the time is not a number or out of range.
    func frame(at time: MediaTime) -> Int64? {
        guard time.isNumeric else { return nil }
        let units = time.converted(to: timescale)
        guard units.isNumeric, units.timescale == timescale, units.value.magnitude < 1 << 52 else { return nil }
        let unit = Int64(multiplier.denominator)
        let (quotient, rest) = units.value.quotientAndRemainder(dividingBy: unit)
        return quotient + (rest * 2 >= unit ? 1 : rest * 2 <= -unit ? -1 : 0)
    }

    /// The first and last frame of a caption, which takes at least one frame. nil for a caption before time zero.
    func frames(of range: MediaTimeRange, index: Int) throws(CaptionError) -> (start: Int64, end: Int64)? {
        let last = frame(hours: 99, minutes: 59, seconds: 59, frames: nominalRate - 1)
        guard range.isValid, let start = frame(at: range.start), start < last else {
            throw CaptionError(
                code: .invalidTime, text: "caption \(index + 1) has no start that a time code can express: \(range)")
        }
        let end = range.end.isNumeric ? min(frame(at: range.end) ?? last, last) : last
        if end <= 0, range.duration > .zero { return nil }
        return (max(0, start), max(end, max(0, start) + 1))
    }

    /// Returns a time code such as `01:02:03:04`.
    ///
    /// - Parameter dropMark: The separator before the frames in a drop-frame code. TTML has only the colon (TTML1
    ///   §10.3.1).
    func timeCode(_ frame: Int64, dropMark: String = ";") -> String {
        var number = frame
        if isDropFrame {
            let (tens, rest) = frame.quotientAndRemainder(dividingBy: 17_982)
            number += 18 * tens + (rest >= 2 ? 2 * ((rest - 2) / 1798) : 0)
        }
        let (seconds, frames) = number.quotientAndRemainder(dividingBy: Int64(nominalRate))
        return DecimalText.clock(seconds: seconds) + (isDropFrame ? dropMark : ":") + frames.digits(2)
    }

    func frame(hours: Int, minutes: Int, seconds: Int, frames: Int) -> Int64 {
        let minuteCount = hours * 60 + minutes
        let dropped = isDropFrame ? 2 * (minuteCount - minuteCount / 10) : 0
        return Int64((minuteCount * 60 + seconds) * nominalRate + frames - dropped)
    }
}
