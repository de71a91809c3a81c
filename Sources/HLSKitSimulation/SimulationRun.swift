public import HLSKitCore
import HLSKitPlaylist
import Synchronization

/// Plays a movie over a recorded network with the engine of `Player` in a plain loop.
///
/// There are no tasks, no clock and no media. There is one request at a time, and playlists take no time. The session
/// depends only on the inputs. An hour of playback takes about a second or less, depending on the rule.
public struct SimulationRun: Sendable {
    /// Options for a session.
    public struct Options: Sendable {
        /// The rule that selects the variant of the next segment.
        public var variantSelector: any VariantSelector
        /// A Boolean value that indicates whether playlists declare the size of every segment.
        ///
        /// The default is `false`.
        public var knowsSegmentSizes = false
        /// The policy for starting playback, initially and after a stall.
        public var keepUpPolicy = KeepUpPolicy.predictive
        /// The maximum duration of buffered media.
        ///
        /// The default is 30 s. A segment is requested only if it fits within this limit.
        public var bufferLimit = Duration.seconds(30)
        /// The only variant to play, counted from the lowest.
        ///
        /// The default, `nil`, lets the rule choose.
        public var pinnedVariant: Int?
        /// A Boolean value that indicates whether every decision of the rule is recorded with its reason.
        ///
        /// The default is `false`.
        public var explainsDecisions = false

        /// Creates options.
        ///
        /// The default rule is the default rule of a player.
        public init(variantSelector: any VariantSelector = PlayerConfiguration().variantSelector) {
            self.variantSelector = variantSelector
        }
    }

    /// Bytes arrive at least this often while a link delivers any.
    package static let arrivalInterval = 250.0
    /// The simulated time, in milliseconds, after which a session is stopped: ten days.
    static let timeLimit = 864_000_000.0

    package let trace: NetworkTrace
    package let movie: MovieFile
    package let options: Options

    private var playback: SteppedPlayback
    private let titles: SimulatedTitle
    private var transfer: Transfer?
    private var session: SimulatedSession
    private var now = 0.0
    private var hasEnded = false
    private let decisions = DecisionRecord()
    private var failure: HLSError?

    /// Creates a run.
    ///
    /// - Throws: `HLSError` if the pinned variant does not exist, or the trace never carries a bit.
    public init(trace: NetworkTrace, movie: MovieFile, options: Options = Options()) throws(HLSError) {
        if let pinned = options.pinnedVariant, !(0..<movie.variantCount).contains(pinned) {
            throw HLSError.simulation("the movie has \(movie.variantCount) variants, but no variant \(pinned)")
        }
        guard trace.meanBitsPerSecond > 0 else { throw HLSError.simulation("the trace delivers nothing") }
        guard options.bufferLimit >= movie.segmentDuration else {
            throw HLSError.simulation("the buffer limit is shorter than a segment")
        }
        self.trace = trace
        self.movie = movie
        self.options = options
        let titles = SimulatedTitle(movie: movie, pinnedVariant: options.pinnedVariant)
        self.titles = titles
        var configuration = PlayerConfiguration()
        configuration.buffering.forwardDurationLimit = options.bufferLimit
        configuration.buffering.maxBufferBytes = .max
        configuration.keepUpPolicy = options.keepUpPolicy
        configuration.retryPolicies = .patient
        var selector = options.variantSelector
        if options.knowsSegmentSizes {
            selector = SizeAwareSelector(rule: selector, movie: movie, variants: titles.variants)
        }
        if options.explainsDecisions {
            selector = ExplainingSelector(rule: selector, variants: titles.variants, record: decisions)
        }
        configuration.variantSelector = selector
        playback = SteppedPlayback(configuration: configuration) { titles.playlist($0) }
        session = SimulatedSession(movie: movie, bufferLimit: options.bufferLimit)
    }

    /// Plays from the first request to the end of the movie.
    ///
    /// - Throws: `HLSError` if the item fails or takes more than ten days.
    public mutating func run() throws(HLSError) -> SimulatedSession {
        playback.play(SimulatedTitle.multivariantURL, at: .zero)
        carryOut()
        // The next timer in both units, because it changes less often than data arrives.
        var timer: Duration?
        var timerTime = Double.infinity
        while !hasEnded {
            if timer != playback.nextTimer {
                timer = playback.nextTimer
                timerTime = timer?.milliseconds ?? .infinity
            }
            let arrival = transfer?.next ?? .infinity
            now = max(now, min(timerTime, arrival))
            guard now <= Self.timeLimit else {
                throw HLSError.simulation("the movie did not end within ten days")
            }
            if let timer, timerTime < arrival { playback.fireTimers(at: timer) } else { takeArrival() }
            carryOut()
        }
        if let failure { throw HLSError.simulation("\(failure)") }
        session.statistics = playback.statistics
        session.decisions = decisions.entries.withLock { $0 }
        return session
    }

    private struct Transfer: Sendable {
        let id: Int
        let segment: Int
        let variant: Int
        let bits: Double
        let requested: Double
        let firstByte: Double
        let done: Double
        var next: Double
        var hasResponded = false
        var byteCount = 0

        var totalByteCount: Int { Int((bits / 8).rounded(.up)) }
    }

    private mutating func carryOut() {
        while playback.hasActions {
            for action in playback.takeActions() {
                switch action {
                case .load(let id, let url): load(id, url)
                case .cancel(let id): cancel(id)
                case .published(let event): note(event)
                }
            }
        }
    }

    private mutating func load(_ id: Int, _ url: String) {
        guard let (segment, variant) = titles.segment(url) else { return }
        let bits = movie.bitCount(ofSegment: segment, variant: variant)
        let firstByte = now + trace.latency(at: now)
        transfer = Transfer(
            id: id, segment: segment, variant: variant, bits: bits, requested: now, firstByte: firstByte,
            done: trace.arrivalTime(ofBits: bits, from: firstByte), next: firstByte)
    }

    private mutating func takeArrival() {
        guard var current = transfer else { return }
        let time = Duration.milliseconds(rounding: now)
        if !current.hasResponded {
            current.hasResponded = true
            current.next = min(current.done, now + Self.arrivalInterval)
            transfer = current
            playback.respond(to: current.id, byteCount: current.totalByteCount, at: time)
            return
        }
        let isDone = now >= current.done
        let bits = isDone ? current.bits : trace.deliveredBits(from: current.firstByte, to: now)
        let byteCount = isDone ? current.totalByteCount : Int(bits / 8)
        let news = byteCount - current.byteCount
        current.byteCount = byteCount
        current.next = min(current.done, now + Self.arrivalInterval)
        transfer = isDone ? nil : current
        if news > 0 { playback.receive(current.id, byteCount: news, at: time) }
        guard isDone else { return }
        let buffered = movie.start(ofSegment: current.segment + 1) - playback.playhead
        session.segments.append(
            SimulatedSession.Segment(
                index: current.segment, variant: current.variant, requested: current.requested,
                firstByte: current.firstByte, done: now, bitCount: current.bits, buffered: buffered.milliseconds))
        playback.finish(current.id, at: time)
    }

    private mutating func cancel(_ id: Int) {
        guard let current = transfer, current.id == id else { return }
        transfer = nil
        session.abandons.append(
            SimulatedSession.Abandon(
                index: current.segment, variant: current.variant, requested: current.requested, aborted: now,
                bitCount: min(current.bits, trace.deliveredBits(from: current.firstByte, to: now))))
    }

    private mutating func note(_ event: PlayerEvent.Kind) {
        switch event {
        case .timeControl(let change):
            if change.new == .playing {
                session.starts.append(now)
            } else if change.old == .playing, change.new == .waitingToPlayAtSpecifiedRate {
                session.stalls.append(now)
            }
        case .didPlayToEnd:
            session.end = now
            hasEnded = true
        case .failedToPlayToEnd(let error):
            failure = error
            hasEnded = true
        case .itemStatusChanged(.failed):
            failure = failure ?? HLSError(code: .internal, cause: "the item failed")
            hasEnded = true
        default: break
        }
    }
}
