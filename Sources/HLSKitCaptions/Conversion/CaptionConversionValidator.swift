public import HLSKitTime
import Synchronization

/// Finds captions in a sequence that the target format cannot represent, and suggests adjustments.
///
/// Validation happens while you iterate over the warnings, one at a time. If you ignore a warning, writing the caption
/// shows it late or omits it.
///
/// let validator = CaptionConversionValidator(captions: captions, timeRange: range) for await warning in try
/// validator.validateCaptionConversion() { … }
///
/// Source: AVFoundation's `AVCaptionConversionValidator`.
public final class CaptionConversionValidator: Sendable {
    /// The progress of validation.
    public enum Status: Sendable, Hashable {
        /// Validating has not begun.
        case unknown
        case validating
        /// All captions have been checked, and ``CaptionConversionValidator/warnings`` is complete.
        case completed
        /// ``CaptionConversionValidator/stopValidating()`` was called before the end.
        case stopped
    }

    /// A sequence of warnings.
    ///
    /// A request for the next warning continues validation up to it.
    public struct Warnings: AsyncSequence, AsyncIteratorProtocol, Sendable {
        fileprivate let validator: CaptionConversionValidator

        /// Returns the next warning, or `nil` when all captions have been checked or validation is stopped.
        public mutating func next() async -> CaptionConversionWarning? { validator.nextWarning() }
        public func makeAsyncIterator() -> Warnings { self }
    }

    private struct State {
        var status = Status.unknown
        var warnings: [CaptionConversionWarning] = []
    }

    /// The captions to validate, in any order.
    public let captions: [Caption]
    /// The time in which captions can be sent.
    ///
    /// No caption is loaded before its start, and captions outside it are not checked.
    public let timeRange: MediaTimeRange
    /// The format to convert to.
    public let conversionSettings: CaptionConversionSettings
    private let state = Mutex(State())
    /// Finds the next warning. It is separate from the state, which other threads can read and stop at the same time.
    private let check = Mutex<ConversionCheck?>(nil)

    /// Creates a validator.
    ///
    /// - Parameters:
    ///   - captions: The captions, in any order.
    ///   - timeRange: The time in which captions can be sent. Captions outside it are not checked.
    ///   - conversionSettings: The target format. The default is CEA-608.
    public init(
        captions: [Caption], timeRange: MediaTimeRange, conversionSettings: CaptionConversionSettings = .init()
    ) {
        self.captions = captions
        self.timeRange = timeRange
        self.conversionSettings = conversionSettings
    }

    /// The progress of validation.
    ///
    /// You can read it on any thread.
    public var status: Status { state.withLock { $0.status } }
    /// The warnings so far.
    public var warnings: [CaptionConversionWarning] { state.withLock { $0.warnings } }

    /// Starts validation and returns the sequence of warnings.
    ///
    /// - Throws: ``CaptionError/Code/alreadyStarted`` on the second call.
    public func validateCaptionConversion() throws(CaptionError) -> Warnings {
        let isFirst = state.withLock { state in
            guard state.status == .unknown else { return false }
            state.status = .validating
            return true
        }
        guard isFirst else { throw CaptionError(code: .alreadyStarted, text: "the validation has begun already") }
        return Warnings(validator: self)
    }

    /// Stops validation, so that no further warnings are found.
    ///
    /// This has no effect before the start and after the end.
    public func stopValidating() {
        state.withLock { if $0.status == .validating { $0.status = .stopped } }
    }

    private func nextWarning() -> CaptionConversionWarning? {
        check.withLock { check in
            guard status == .validating else { return nil }
            var current =
                check ?? ConversionCheck(captions: captions, timeRange: timeRange, settings: conversionSettings)
            let warning = current.nextWarning()
            check = current
            return state.withLock { state -> CaptionConversionWarning? in
                guard state.status == .validating else { return nil }
                if let warning {
                    state.warnings.append(warning)
                } else {
                    state.status = .completed
                }
                return warning
            }
        }
    }
}

struct ConversionCheck {
    private var schedule: CEA608Schedule
    private var scenes: [(scene: CEA608Schedule.Scene, beginning: [Int])]
    private var next = 0
    private var pending: [CaptionConversionWarning] = []
    private let rate: TimeCodeRate

    init(captions: [Caption], timeRange: MediaTimeRange, settings: CaptionConversionSettings) {
        let rate = settings.timeCodeRate
        self.rate = rate
        schedule = CEA608Schedule(firstFrame: max(0, rate.frame(at: timeRange.start) ?? 0))
        // A caption without a valid time-code time is not shown at all.
        let usable = captions.enumerated().filter { _, caption in
            let range = caption.timeRange
            let isInside = timeRange.isValid ? range.start < timeRange.end && range.end > timeRange.start : true
            return isInside && (try? rate.frames(of: range, index: 0)) != nil
        }
        let found = (try? CEA608Schedule.Scene.scenes(of: usable.map(\.element), rate: rate)) ?? []
        scenes = found.map { ($0.scene, $0.beginning.map { usable[$0].offset }) }
    }

    mutating func nextWarning() -> CaptionConversionWarning? {
        while pending.isEmpty, next < scenes.count {
            let (scene, beginning) = scenes[next]
            next += 1
            take(schedule.add(scene), scene, beginning)
        }
        return pending.isEmpty ? nil : pending.removeFirst()
    }

    private mutating func take(
        _ placement: CEA608Schedule.Placement, _ scene: CEA608Schedule.Scene, _ beginning: [Int]
    ) {
        for range in Self.ranges(of: beginning) {
            if placement.delay > 0 {
                let offset = rate.time(ofFrame: placement.delay)
                // Keep the end, unless the caption would become empty.
                let adjustment = CaptionConversionTimeRangeAdjustment(
                    startTimeOffset: offset, durationOffset: placement.isDropped ? .zero : -offset)
                pending.append(
                    CaptionConversionWarning(
                        warningType: .excessMediaData, rangeOfCaptions: range, adjustment: adjustment))
            }
            let findings: [(CEA608Layout.Finding, CaptionConversionWarning.WarningType)] = [
                (.character, .unsupportedCharacter), (.width, .excessWidth), (.height, .excessHeight),
            ]
            for (finding, type) in findings where placement.layout.findings.contains(finding) {
                pending.append(CaptionConversionWarning(warningType: type, rangeOfCaptions: range))
            }
        }
    }

    private static func ranges(of numbers: [Int]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for number in numbers.sorted() {
            if let last = ranges.last, last.upperBound == number {
                ranges[ranges.count - 1] = last.lowerBound..<number + 1
            } else {
                ranges.append(number..<number + 1)
            }
        }
        return ranges
    }
}
