import FoundationEssentials
package import HLSKitCore
import HLSKitPlaylist
import Synchronization

/// Plays a ``LowLatencyOrigin`` over a recorded network. It uses a `Player` under a ``VirtualClock``, with its
/// requests, blocking reloads and partial segments, but without outputs.
///
/// The session depends only on the inputs. Ten minutes take some seconds.
package struct LowLatencyRun: Sendable {
    package struct Options: Sendable {
        package var variantSelector: any VariantSelector
        /// Bits per second of the variants, ascending. The default is 1, 3 and 6 Mbit/s.
        package var bitRates = [1_000_000, 3_000_000, 6_000_000]
        package var partDuration = Duration.milliseconds(500)
        package var partsPerSegment = 4
        /// `PART-HOLD-BACK`, from two part durations to a minute. nil (the default) means three part durations.
        package var partHoldBack: Duration?
        /// The interval of independent parts. The default is 1, which makes all parts independent.
        package var independentInterval = 1
        package var duration = Duration.seconds(300)
        /// The only variant to play, counted from the lowest, or nil (the default) to let the rule choose.
        package var pinnedVariant: Int?
        package var explainsDecisions = false

        package init(variantSelector: any VariantSelector = PlayerConfiguration().variantSelector) {
            self.variantSelector = variantSelector
        }
    }

    private static let sampleInterval = Duration.milliseconds(100)

    private let trace: NetworkTrace
    private let options: Options
    private let origin: LowLatencyOrigin

    /// - Throws: `HLSError` for an impossible stream: bit rates that do not ascend, segments of a fractional number of
    ///   seconds, or a missing pinned variant. Also if the trace never carries a bit.
    package init(trace: NetworkTrace, options: Options = Options()) throws(HLSError) {
        guard trace.meanBitsPerSecond > 0 else { throw HLSError.simulation("the trace delivers nothing") }
        let rates = options.bitRates
        guard !rates.isEmpty, rates.allSatisfy({ (1000...1_000_000_000).contains($0) }),
            zip(rates, rates.dropFirst()).allSatisfy({ $0 < $1 })
        else { throw HLSError.simulation("bit rates must ascend, from 1 kbit/s to 1 Gbit/s") }
        guard options.partDuration >= .milliseconds(100), options.partDuration <= .seconds(10),
            (1...100).contains(options.partsPerSegment)
        else {
            throw HLSError.simulation("a part must last from 0.1 to 10 s, and a segment have from 1 to 100 of them")
        }
        let segmentDuration = options.partDuration * options.partsPerSegment
        guard Duration.seconds(segmentDuration.components.seconds) == segmentDuration else {
            throw HLSError.simulation("a segment must last a whole number of seconds")
        }
        guard options.independentInterval >= 1, options.duration > .zero, options.duration <= .seconds(86_400) else {
            throw HLSError.simulation("a stream is watched for up to a day, and some of its parts are independent")
        }
        if let holdBack = options.partHoldBack, holdBack < options.partDuration * 2 || holdBack > .seconds(60) {
            throw HLSError.simulation("a hold-back is from two parts to a minute")
        }
        if let pinned = options.pinnedVariant, !rates.indices.contains(pinned) {
            throw HLSError.simulation("there are \(rates.count) variants, but no variant \(pinned)")
        }
        self.trace = trace
        self.options = options
        var origin = LowLatencyOrigin()
        origin.bitRates = options.pinnedVariant.map { [rates[$0]] } ?? rates
        origin.partDuration = options.partDuration
        origin.partsPerSegment = options.partsPerSegment
        origin.partHoldBack = options.partHoldBack
        origin.independentInterval = options.independentInterval
        self.origin = origin
    }

    /// Plays from the first request until the requested duration has passed.
    ///
    /// - Throws: `HLSError` if the item fails.
    package func run() throws(HLSError) -> LowLatencySession {
        do {
            return try play()
        } catch let error as HLSError {
            throw error
        } catch {
            throw HLSError.simulation("\(error)")
        }
    }

    private func play() throws -> LowLatencySession {
        let clock = VirtualClock()
        let origin = origin
        let transport = SimulatedTransport(over: trace, clock: clock) { origin.response(to: $0) }
        let decisions = DecisionRecord()
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        // Only the network may affect the session.
        configuration.retryPolicies = .patient
        configuration.variantSelector = options.variantSelector
        if options.explainsDecisions {
            configuration.variantSelector = ExplainingSelector(
                rule: options.variantSelector, variants: Array(origin.bitRates.indices), record: decisions)
        }
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: origin.url)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        let latencies = Mutex<[Double]>([])
        let watching = Task(executorPreference: clock) { [duration = options.duration] in
            let epoch = Date(origin.epoch)
            while clock.now.offset < duration {
                do { try await clock.sleep(for: Self.sampleInterval) } catch { return }
                // Content has the date at which the encoder received it.
                guard player.state.statistics.startupTime != nil, let date = item.currentDate else { continue }
                let age = clock.now.offset.milliseconds / 1000 - date.timeIntervalSince(epoch)
                latencies.withLock { $0.append(age) }
            }
            await player.close()
        }
        let empty = LowLatencySession(options)
        var session = try clock.run { () throws -> LowLatencySession in
            var session = empty
            for await event in events {
                try session.note(event)
            }
            watching.cancel()
            await player.close()
            return session
        }
        session.end = options.duration.milliseconds / 1000
        session.latencies = latencies.withLock { $0 }
        session.decisions = decisions.entries.withLock { $0 }
        return session
    }
}
