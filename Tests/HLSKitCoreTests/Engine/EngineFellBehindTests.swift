import Testing

@testable import HLSKitCore

@Suite("Engine, behind the live window")
struct EngineFellBehindTests {
    /// A player of a live stream whose media does not come for a minute and a half, so that the window moves on.
    private static func player(_ policy: PlayerItemPreferences.FellBehindPolicy) -> EngineHarness {
        var origin = ScriptedOrigin.live()
        origin.media = { visit in
            (.seconds(8)..<(.seconds(98))).contains(visit.time) ? .failure(.timedOut) : .media(100_000)
        }
        var preferences = PlayerItemPreferences()
        preferences.fellBehindPolicy = policy
        return EngineHarness.playing("live.m3u8", from: origin, preferences: preferences) {
            $0.retryPolicies.liveBudget = nil
        }
    }

    private static func sequences(_ harness: EngineHarness) -> [Int] {
        harness.loadedSegments.compactMap { Int($0.dropFirst().dropLast(3)) }
    }

    @Test(
        "M04: what the window took is counted, and playing goes on where the policy says",
        arguments: [PlayerItemPreferences.FellBehindPolicy.jumpToEdge, .jumpToOldest])
    func goesOn(_ policy: PlayerItemPreferences.FellBehindPolicy) throws {
        var harness = Self.player(policy)
        harness.run(until: .seconds(130))
        #expect(harness.state.timeControlStatus == .playing)
        let loaded = Self.sequences(harness)
        let lost = harness.missedSequences
        #expect(!lost.isEmpty)
        let skipped = harness.skippedSequences.flatMap { Array($0) }
        // Each segment was played or told to be lost, none twice.
        let all = (loaded + lost.flatMap { Array($0) } + skipped).sorted()
        #expect(all == Array(103...(loaded.last ?? 0)))
        // A segment was on its way before; then twelve to sixteen seconds, or all of the window.
        let offset = try #require(harness.state.liveOffset)
        #expect(policy == .jumpToEdge ? offset < 24 : offset > 24, "\(offset)")
    }

    @Test("M04: a player that is to fail does")
    func fails() {
        var harness = Self.player(.fail)
        let isOver = harness.runToEnd(by: .seconds(200))
        #expect(isOver)
        #expect(harness.error?.code == .staleLive)
        #expect(harness.error?.cause == "playback fell behind the live window")
    }
}
