/// A point on a media timeline, or a duration, as an exact fraction of a second.
///
/// The value is `value / timescale` seconds. In addition to numbers, there are ``invalid``, ``indefinite`` (not known
/// yet) and the two infinities. Arithmetic never traps: a result out of range is rounded (``hasBeenRounded``) or
/// becomes an infinity. Order: −∞ < numbers (by epoch, then by value) < indefinite < +∞ < invalid.
///
/// The type has the semantics of `CMTime`.
public struct MediaTime: Sendable, Codable {
    /// The number of units.
    public var value: Int64
    /// The number of units per second.
    ///
    /// It is greater than zero in every numeric time.
    public var timescale: Int32
    /// Distinguishes timelines that cannot be compared.
    ///
    /// 0 also marks durations, which can be combined with every epoch.
    public var epoch: Int64
    package var flags: Flags

    package struct Flags: OptionSet, Sendable, Hashable, Codable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Set in all times but ``MediaTime/invalid``.
        package static let valid = Flags(rawValue: 1)
        /// An operation on the way to this value was inexact.
        package static let hasBeenRounded = Flags(rawValue: 2)
        package static let positiveInfinity = Flags(rawValue: 4)
        package static let negativeInfinity = Flags(rawValue: 8)
        package static let indefinite = Flags(rawValue: 16)
    }

    /// Creates a time of `value / timescale` seconds, or ``invalid`` if `timescale` is not greater than zero.
    public init(value: Int64, timescale: Int32, epoch: Int64 = 0) {
        self.init(value: value, timescale: timescale, epoch: epoch, flags: .valid)
        if timescale <= 0 { self = .invalid }
    }

    /// Creates the time nearest to `seconds` in units of `preferredTimescale`.
    ///
    /// If the value is too large for the timescale, the timescale is halved until the value fits. If it does not fit at
    /// 1, the time is an infinity. NaN, or a timescale not greater than zero, gives ``invalid``.
    public init(seconds: Double, preferredTimescale: Int32) {
        guard preferredTimescale > 0, !seconds.isNaN else {
            self = .invalid
            return
        }
        self.init(product: seconds, timescale: preferredTimescale, epoch: 0, rounded: false) { seconds * Double($0) }
    }

    private init(value: Int64, timescale: Int32, epoch: Int64, flags: Flags) {
        self.value = value
        self.timescale = timescale
        self.epoch = epoch
        self.flags = flags
    }

    /// Rounds `scaled(timescale)`, halving the timescale while it does not fit. `sign` selects the infinity.
    private init(
        product sign: Double, timescale: Int32, epoch: Int64, rounded: Bool, scaled: (Int32) -> Double
    ) {
        var scale = timescale
        var flags: Flags = rounded ? [.valid, .hasBeenRounded] : .valid
        while scale >= 1 {
            let exact = scaled(scale)
            if let value = Int64(exactly: exact.rounded(.toNearestOrAwayFromZero)) {
                if Double(value) != exact || scale != timescale { flags.insert(.hasBeenRounded) }
                self.init(value: value, timescale: scale, epoch: epoch, flags: flags)
                return
            }
            scale /= 2
        }
        self = sign < 0 ? .negativeInfinity : .positiveInfinity
    }

    /// Creates `numerator / denominator` seconds in units of `timescale`, or of the largest half, quarter … of it that
    /// fits. All factors are small enough for their product to fit into 127 bits.
    private init(
        numerator: Int128, denominator: Int128, timescale: Int32, epoch: Int64, rounded: Bool,
        rounding: MediaTime.RoundingMethod = .halfAwayFromZero, coarsening: Bool = true
    ) {
        var scale = timescale
        while scale >= 1 {
            let (product, overflow) = numerator.multipliedReportingOverflow(by: Int128(scale))
            let (quotient, exact) =
                overflow
                ? (numerator / denominator, false)
                : rounding.divide(product, by: denominator, coarsening: coarsening)
            if !overflow, let value = Int64(exactly: quotient) {
                let flags: Flags = exact && !rounded ? .valid : [.valid, .hasBeenRounded]
                self.init(value: value, timescale: scale, epoch: epoch, flags: flags)
                return
            }
            scale /= 2
        }
        self = numerator < 0 ? .negativeInfinity : .positiveInfinity
    }
}

// MARK: - Constants and questions

extension MediaTime {
    /// 0 seconds.
    public static let zero = MediaTime(value: 0, timescale: 1)
    /// A value that is not a time: the result of operations without a meaningful result.
    public static let invalid = MediaTime(value: 0, timescale: 0, epoch: 0, flags: [])
    /// A time that exists but is unknown, such as the duration of a live stream.
    public static let indefinite = MediaTime(value: 0, timescale: 0, epoch: 0, flags: [.valid, .indefinite])
    /// A time after every other time.
    public static let positiveInfinity = MediaTime(
        value: 0, timescale: 0, epoch: 0, flags: [.valid, .positiveInfinity])
    /// A time before every other time.
    public static let negativeInfinity = MediaTime(
        value: 0, timescale: 0, epoch: 0, flags: [.valid, .negativeInfinity])

    /// A Boolean value that indicates whether the time is not ``invalid``.
    public var isValid: Bool { flags.contains(.valid) }
    /// A Boolean value that indicates whether the time is a number: not invalid, indefinite or infinite.
    public var isNumeric: Bool { kind == .numeric }
    /// A Boolean value that indicates whether the time is not known; see ``indefinite``.
    public var isIndefinite: Bool { kind == .indefinite }
    /// A Boolean value that indicates whether the time equals ``positiveInfinity``.
    public var isPositiveInfinity: Bool { kind == .positiveInfinity }
    /// A Boolean value that indicates whether the time equals ``negativeInfinity``.
    public var isNegativeInfinity: Bool { kind == .negativeInfinity }
    /// A Boolean value that indicates whether an operation on the way to this value was inexact.
    public var hasBeenRounded: Bool { isNumeric && flags.contains(.hasBeenRounded) }

    /// The time in seconds as the nearest `Double`: NaN for invalid and indefinite times, ±infinity for infinities.
    public var seconds: Double {
        switch kind {
        case .numeric: Double(value) / Double(timescale)
        case .positiveInfinity: .infinity
        case .negativeInfinity: -.infinity
        case .indefinite, .invalid: .nan
        }
    }

    /// The kinds of time, in sorting order.
    private enum Kind: Int {
        case negativeInfinity, numeric, indefinite, positiveInfinity, invalid
    }

    private var kind: Kind {
        guard flags.contains(.valid) else { return .invalid }
        if flags.contains(.positiveInfinity) { return .positiveInfinity }
        if flags.contains(.negativeInfinity) { return .negativeInfinity }
        if flags.contains(.indefinite) { return .indefinite }
        return timescale > 0 ? .numeric : .invalid
    }
}

// MARK: - Arithmetic

extension MediaTime {
    /// Returns the same time in units of `timescale`, rounded if necessary.
    ///
    /// If the value does not fit, the timescale is halved until it does. Times that are not numbers do not change. A
    /// timescale not greater than zero gives ``invalid``.
    public func converted(to timescale: Int32, rounding: MediaTime.RoundingMethod = .halfAwayFromZero) -> MediaTime {
        guard timescale > 0 else { return .invalid }
        guard isNumeric else { return kind == .invalid ? .invalid : self }
        if timescale == self.timescale { return self }
        return MediaTime(
            numerator: Int128(value), denominator: Int128(self.timescale), timescale: timescale, epoch: epoch,
            rounded: hasBeenRounded, rounding: rounding, coarsening: timescale < self.timescale)
    }

    public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
        guard left.isNumeric, right.isNumeric else { return nonNumericSum(left.kind, right.kind) }
        guard left.epoch == right.epoch || left.epoch == 0 || right.epoch == 0 else { return .invalid }
        return sum(left, right, sign: 1, epoch: left.epoch == 0 ? right.epoch : left.epoch)
    }

    /// Returns the difference.
    ///
    /// The difference of two times with the same epoch is a duration, which has epoch 0.
    public static func - (left: MediaTime, right: MediaTime) -> MediaTime {
        guard left.isNumeric, right.isNumeric else { return nonNumericSum(left.kind, (-right).kind) }
        guard left.epoch == right.epoch || left.epoch == 0 || right.epoch == 0 else { return .invalid }
        let epoch = left.epoch == right.epoch ? 0 : left.epoch == 0 ? right.epoch : left.epoch
        return sum(left, right, sign: -1, epoch: epoch)
    }

    public static prefix func - (time: MediaTime) -> MediaTime {
        switch time.kind {
        case .numeric:
            MediaTime(
                numerator: -Int128(time.value), denominator: Int128(time.timescale), timescale: time.timescale,
                epoch: time.epoch, rounded: time.hasBeenRounded)
        case .positiveInfinity: .negativeInfinity
        case .negativeInfinity: .positiveInfinity
        case .indefinite: .indefinite
        case .invalid: .invalid
        }
    }

    public static func += (left: inout MediaTime, right: MediaTime) { left = left + right }
    public static func -= (left: inout MediaTime, right: MediaTime) { left = left - right }

    /// Returns the time multiplied by an integer, in the same timescale.
    public func multiplied(by factor: Int32) -> MediaTime {
        multiplied(by: (Int64(factor), 1))
    }

    /// Returns the time multiplied by a number.
    ///
    /// NaN gives ``invalid``. The timescale does not change if it can represent the product. Otherwise it is doubled
    /// until it can, or until it is at least 65,536, and the product is rounded to it. For example, half of one second
    /// is half a second, even if the timescale was 1.
    public func multiplied(by factor: Double) -> MediaTime {
        guard !factor.isNaN, kind != .invalid else { return .invalid }
        guard kind != .indefinite else { return .indefinite }
        guard isNumeric, factor.isFinite else {
            let sign = seconds * factor
            return sign.isNaN ? .invalid : sign < 0 ? .negativeInfinity : .positiveInfinity
        }
        if let whole = Int32(exactly: factor) { return multiplied(by: whole) }
        var scale = timescale
        var product = Double(value) * factor
        while product != product.rounded(), scale < Self.leastFineTimescale {
            scale *= 2
            product *= 2
        }
        return MediaTime(product: product, timescale: scale, epoch: epoch, rounded: hasBeenRounded) {
            Double(value) * (Double($0) / Double(timescale)) * factor
        }
    }

    /// From this timescale on, products with numbers are precise enough.
    private static let leastFineTimescale: Int32 = 65_536

    /// Returns the time multiplied by `ratio.0 / ratio.1`.
    ///
    /// The result is exact, in the smallest multiple of the timescale that can represent it. If there is none, the
    /// result is rounded once, to the largest multiple. A denominator of zero gives ``invalid``.
    public func multiplied(by ratio: (Int64, Int64)) -> MediaTime {
        guard ratio.1 != 0, kind != .invalid else { return .invalid }
        guard kind != .indefinite else { return .indefinite }
        let sign = ratio.0.signum() * ratio.1.signum()
        guard isNumeric else {
            return sign == 0 ? .invalid : sign > 0 ? self : -self
        }
        let common = Self.greatestCommonDivisor(ratio.0.magnitude, ratio.1.magnitude)
        let numerator = Int128(ratio.0.magnitude / common) * Int128(sign < 0 ? -1 : 1)
        let denominator = Int128(ratio.1.magnitude / common)
        let product = Int128(value) * numerator
        let refinement = denominator / Self.greatestCommonDivisor(product, denominator)
        let scale =
            Int32(exactly: Int128(timescale) * refinement) ?? timescale * (Int32.max / timescale)
        return MediaTime(
            numerator: product, denominator: Int128(timescale) * denominator, timescale: scale, epoch: epoch,
            rounded: hasBeenRounded)
    }

    static func greatestCommonDivisor(_ a: Int128, _ b: Int128) -> Int128 {
        var (a, b) = (a.magnitude, b.magnitude)
        while b != 0 { (a, b) = (b, a % b) }
        return Int128(max(a, 1))
    }

    private static func sum(_ left: MediaTime, _ right: MediaTime, sign: Int128, epoch: Int64) -> MediaTime {
        let rounded = left.hasBeenRounded || right.hasBeenRounded
        if left.timescale == right.timescale {
            return MediaTime(
                numerator: Int128(left.value) + sign * Int128(right.value), denominator: Int128(left.timescale),
                timescale: left.timescale, epoch: epoch, rounded: rounded)
        }
        let a = Int64(left.timescale)
        let b = Int64(right.timescale)
        let multiple = a / Int64(greatestCommonDivisor(a.magnitude, b.magnitude)) * b
        return MediaTime(
            numerator: Int128(left.value) * Int128(b) + sign * Int128(right.value) * Int128(a),
            denominator: Int128(a) * Int128(b), timescale: Int32(clamping: multiple), epoch: epoch, rounded: rounded)
    }

    private static func nonNumericSum(_ left: Kind, _ right: Kind) -> MediaTime {
        let kinds = [left, right]
        if kinds.contains(.invalid) { return .invalid }
        switch (kinds.contains(.positiveInfinity), kinds.contains(.negativeInfinity)) {
        case (true, true): return .invalid
        case (true, false): return .positiveInfinity
        case (false, true): return .negativeInfinity
        case (false, false): return .indefinite
        }
    }

    fileprivate static func greatestCommonDivisor(_ a: UInt64, _ b: UInt64) -> UInt64 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}

// MARK: - Order

extension MediaTime: Comparable, Hashable {
    /// Equal values are equal in every timescale, and ``hasBeenRounded`` is ignored.
    public static func == (left: MediaTime, right: MediaTime) -> Bool {
        guard left.kind == right.kind else { return false }
        guard left.isNumeric else { return true }
        return left.epoch == right.epoch
            && Int128(left.value) * Int128(right.timescale) == Int128(right.value) * Int128(left.timescale)
    }

    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        guard left.isNumeric, right.isNumeric else { return left.kind.rawValue < right.kind.rawValue }
        if left.epoch != right.epoch { return left.epoch < right.epoch }
        return Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        guard isNumeric else { return }
        let common = Self.greatestCommonDivisor(value.magnitude, UInt64(timescale))
        hasher.combine(value.magnitude / common)
        hasher.combine(value < 0)
        hasher.combine(UInt64(timescale) / common)
        hasher.combine(epoch)
    }
}

// MARK: - Duration

extension MediaTime {
    /// Creates a time from `duration` in nanoseconds.
    ///
    /// Fractions of a nanosecond are cut off. A duration out of range becomes an infinity.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let nanoseconds = attoseconds / 1_000_000_000
        let (value, overflow2) = whole.addingReportingOverflow(nanoseconds)
        self =
            overflow || overflow2
            ? (seconds < 0 ? .negativeInfinity : .positiveInfinity)
            : MediaTime(value: value, timescale: 1_000_000_000)
    }

    /// Creates the time nearest to `duration` in units of `timescale`.
    ///
    /// The time is exact if the timescale can represent it. A timescale not greater than zero gives ``invalid``.
    public init(_ duration: Duration, timescale: Int32) {
        guard timescale > 0 else {
            self = .invalid
            return
        }
        let (seconds, attoseconds) = duration.components
        // Seconds and fraction are separate, so that no product exceeds 127 bits.
        let whole = Int128(seconds) * Int128(timescale)
        let (fraction, exact) = MediaTime.RoundingMethod.halfAwayFromZero.divide(
            Int128(attoseconds) * Int128(timescale), by: 1_000_000_000_000_000_000)
        self.init(
            numerator: whole + fraction, denominator: Int128(timescale), timescale: timescale, epoch: 0,
            rounded: !exact)
    }

    /// The time as a `Duration`, rounded to attoseconds, or `nil` if the time is not a number.
    public var duration: Duration? {
        guard isNumeric else { return nil }
        let (seconds, rest) = value.quotientAndRemainder(dividingBy: Int64(timescale))
        let (attoseconds, _) = MediaTime.RoundingMethod.halfAwayFromZero.divide(
            Int128(rest) * 1_000_000_000_000_000_000, by: Int128(timescale))
        return Duration(secondsComponent: seconds, attosecondsComponent: Int64(attoseconds))
    }
}
