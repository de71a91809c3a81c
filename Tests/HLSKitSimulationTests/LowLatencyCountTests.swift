import HLSKitCore
import HLSKitSimulation
import Synchronization
import Testing

/// Compares a player's low-latency counters with the requests and responses of its origin. Parts last 0.5 s.
@Suite("Low-latency counts", .timeLimit(.minutes(10)))
struct LowLatencyCountTests {
    private final class Ledger: Sendable {
        struct Counts {
            var held = 0
            var deltas = 0
            var parts = 0
            /// Requests for unfinished parts. `vainHints` counts the unsuccessful ones.
            var hints = 0
            var vainHints = 0
        }

        private let limit: Duration
        private let state = Mutex(Counts())

        init(_ limit: Duration) { self.limit = limit }

        var counts: Counts { state.withLock { $0 } }

        func note(_ request: SimulatedRequest, _ response: SimulatedResponse) {
            let hasCome = request.time + response.delay < limit
            let isPart = request.resourceClass == .segment && request.name.contains(".")
            state.withLock { counts in
                guard response.status == 200, hasCome else {
                    if isPart, !hasCome || response.delay > .zero { counts.vainHints += 1 }
                    return
                }
                if request.urlString.contains("_HLS_msn=") {
                    counts.held += 1
                    if String(decoding: response.body, as: UTF8.self).contains("#EXT-X-SKIP:") { counts.deltas += 1 }
                }
                guard isPart else { return }
                counts.parts += 1
                if response.delay > .zero { counts.hints += 1 }
            }
        }
    }

    private static func play(_ kind: LowLatencyOrigin.Fault.Kind? = nil) throws -> (Ledger.Counts, LiveStatistics) {
        var stage = PartStage()
        stage.limit = .milliseconds(30_250)
        if let kind { stage.origin.faults = [.init(kind, during: .seconds(10)..<(.seconds(12)))] }
        let ledger = Ledger(stage.limit - .milliseconds(100))
        stage.answer = { request, response in
            ledger.note(request, response)
            return response
        }
        let session = try stage.play()
        return (ledger.counts, try #require(session.play.state.statistics.live))
    }

    @Test("M06: the counts equal the origin's requests and responses")
    func counts() throws {
        let (origin, player) = try Self.play()
        #expect(player.numberOfParts == origin.parts && origin.parts > 55)
        #expect(player.numberOfBlockingReloads == origin.held && origin.held > 55)
        #expect(player.numberOfDeltaUpdates == origin.deltas && origin.deltas > 55)
        #expect(player.numberOfUsedHints == origin.hints && origin.hints > 55)
        #expect(player.numberOfWastedHints == 0)
        #expect(origin.vainHints == 1)
    }

    @Test("M06: wasted hints are counted separately")
    func wasted() throws {
        for kind in [LowLatencyOrigin.Fault.Kind.hint(.neverAppears), .hint(.withdrawn)] {
            let (origin, player) = try Self.play(kind)
            #expect(player.numberOfUsedHints == origin.hints, "\(kind)")
            // After three wasted hints in a row the player stops requesting them, so none is in flight.
            #expect(player.numberOfWastedHints == origin.vainHints, "\(kind)")
            #expect(player.numberOfWastedHints > 0)
            #expect(player.numberOfParts == origin.parts)
        }
    }
}
