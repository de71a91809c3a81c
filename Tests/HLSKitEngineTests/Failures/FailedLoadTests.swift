import HLSKitLoading
import HLSKitSelection
import Testing

@testable import HLSKitEngine

@Suite("Outcome of failed requests")
struct FailedLoadTests {
    /// A next step without its details.
    enum Step: Hashable { case again, whole, elsewhere, skip, giveUp(HLSError.Code) }

    private static let timeOut = LoadingError(code: .timedOut, url: "https://host/a", text: "too slow")
    private static let error = HLSError(code: .network, cause: "too slow")

    static func flight(in lane: LaneID = .main) -> SegmentInFlight {
        let id = SegmentID(lane: lane, rawValue: 7)
        let job = SegmentJob(
            id: id, request: RequestID(rawValue: 1), start: .zero, duration: .seconds(4), timeline: 0,
            window: PresentationWindow(), startsNewSequence: false, url: "s", mediaSequence: 4)
        return SegmentInFlight(
            id: id, role: id, position: SegmentPosition(epoch: 0, sequence: 4), job: job, playlistURL: "list")
    }

    /// The limit for lost media is 30 s, and the segment has failed since 0 s.
    private static func segment(in lane: LaneID = .main) -> FailedLoad {
        var policies = RetryPolicies()
        policies.lostMediaTime = .seconds(30)
        policies.budget = .seconds(30)
        let flight = flight(in: lane)
        var lost = LostMedia()
        lost.failed(flight.role, began: .zero)
        return FailedLoad(
            flight, error, timeOut, isAtLiveEdge: false, lost: lost,
            LostMedia.LossLimits(policies, isLive: false, targetDuration: .zero))
    }

    private static func playlist(_ trouble: FailedLoad.PlaylistTrouble = .loading(timeOut)) -> FailedLoad {
        FailedLoad(playlistOf: .main, trouble, url: "https://host/list", isFirst: false, isReload: false)
    }

    private static let map = FailedLoad(mapOf: flight(), HLSError(code: .badMedia, urlString: "m", cause: "not a map"))
    private static let key = FailedLoad(ResourceID(kind: .key, url: "https://host/key"), of: .main, timeOut)
    private static let first = FailedLoad(firstPlaylist: timeOut)

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var load: FailedLoad
        var decision: RetrySchedule<RequestRole>.Decision
        var hasAlternative = false
        var expected: Step
    }

    private static let soon = RetrySchedule<RequestRole>.Decision.retry(after: .seconds(5))

    static let cases = [
        Case(testDescription: "the first playlist, soon", load: first, decision: soon, expected: .again),
        Case(
            testDescription: "the first playlist is nowhere else", load: first, decision: .failOver,
            expected: .giveUp(.network)),
        Case(
            testDescription: "the first playlist is not there", load: first, decision: .fail(.notFound),
            expected: .giveUp(.notFound)),
        Case(testDescription: "a playlist, soon", load: playlist(), decision: soon, expected: .again),
        Case(testDescription: "a playlist, elsewhere", load: playlist(), decision: .failOver, expected: .elsewhere),
        Case(
            testDescription: "a playlist cannot be skipped", load: playlist(), decision: .skip,
            expected: .giveUp(.network)),
        Case(testDescription: "a map that cannot be read, soon", load: map, decision: soon, expected: .again),
        Case(
            testDescription: "a map that cannot be read, elsewhere", load: map, decision: .failOver,
            expected: .elsewhere),
        Case(
            testDescription: "without a map there is nothing to play", load: map, decision: .skip,
            expected: .giveUp(.badMedia)),
        Case(testDescription: "a segment, soon", load: segment(), decision: soon, expected: .again),
        Case(
            testDescription: "a segment, after longer than media is waited for", load: segment(),
            decision: .retry(after: .seconds(11)), expected: .skip),
        Case(testDescription: "a segment, elsewhere", load: segment(), decision: .failOver, expected: .elsewhere),
        Case(testDescription: "a segment is passed over", load: segment(), decision: .skip, expected: .skip),
        Case(
            testDescription: "a segment ends the item", load: segment(), decision: .fail(.badMedia),
            expected: .giveUp(.badMedia)),
        Case(
            testDescription: "subtitles never do", load: segment(in: .subtitles), decision: .fail(.badMedia),
            expected: .skip),
        Case(testDescription: "a key, soon", load: key, decision: soon, expected: .again),
        Case(
            testDescription: "a key, in another variant", load: key, decision: .fail(.contentKey),
            hasAlternative: true, expected: .elsewhere),
        Case(
            testDescription: "a key that nobody has", load: key, decision: .skip, expected: .giveUp(key.error.code)),
    ]

    private static func step(_ outcome: FailedLoad.Outcome) -> Step {
        switch outcome {
        case .again: .again
        case .whole: .whole
        case .elsewhere: .elsewhere
        case .skip: .skip
        case .giveUp(let error): .giveUp(error.code)
        }
    }

    @Test("the outcome depends on the failed resource and the retry decision", arguments: cases)
    func outcome(_ test: Case) {
        let outcome = test.load.outcome(of: test.decision, hasAlternative: test.hasAlternative, at: .seconds(20))
        #expect(Self.step(outcome) == test.expected)
    }

    @Test("a repeated request waits for its delay")
    func waiting() {
        for load in [Self.first, Self.playlist(), Self.segment(), Self.key] {
            var state = LoadingState(configuration: EngineConfiguration())
            let outcome = state.judge(load, FailedLoad.Facts(), at: .seconds(1))
            #expect(Self.step(outcome) == .again)
            #expect(load.purpose.role.map { state.requests.isWaiting($0) } == true)
        }
    }

    @Test("a partial segment that fails twice is loaded with its listed segment; an initialization section is not")
    func whole() {
        for hasAlternative in [false, true] {
            var state = LoadingState(configuration: EngineConfiguration())
            var facts = FailedLoad.Facts(hasAlternative: hasAlternative, hasWhole: true)
            #expect(Self.step(state.judge(Self.segment(), facts, at: .zero)) == .again)
            #expect(Self.step(state.judge(Self.segment(), facts, at: .seconds(1))) == .whole)
            facts.hasWhole = false
            #expect(Self.step(state.judge(Self.segment(), facts, at: .seconds(2))) != .whole)
            facts.hasWhole = true
            #expect(Self.step(state.judge(Self.map, facts, at: .zero)) == .again)
            #expect(Self.step(state.judge(Self.map, facts, at: .seconds(1))) != .whole)
        }
    }

    @Test("a playlist beyond the limits is not requested again, but an alternative may be")
    func hopeless() {
        let failure = PlaylistFailure(kind: .limitExceeded, url: "https://host/list", text: "too long")
        for hasAlternative in [false, true] {
            var state = LoadingState(configuration: EngineConfiguration())
            let outcome = state.judge(
                Self.playlist(.playlist(failure)), FailedLoad.Facts(hasAlternative: hasAlternative), at: .zero)
            if hasAlternative {
                #expect(Self.step(outcome) != .giveUp(.badPlaylist))
            } else {
                #expect(outcome == .giveUp(HLSError(failure)))
            }
            #expect(!state.requests.isWaiting(.mediaPlaylist(.main)) || hasAlternative)
        }
    }

    @Test("invalid data counts as bad; a failed transfer does not")
    func bad() {
        #expect(Self.map.isBad)
        #expect(!Self.segment().isBad)
        #expect(Self.map.role == .map(.main))
        #expect(Self.map.purpose == Self.flight().purpose)
    }

    @Test("releasing a segment cancels its request or its pending retry")
    func release() {
        var state = LoadingState(configuration: EngineConfiguration())
        var window = SegmentWindow()
        window.append(Self.flight())
        let id = window[0].id
        let request = state.begin(window[0].purpose, url: "s", isReload: false, at: .zero)
        _ = window.request(id, as: request, at: .zero)
        let first = state.release(window[0], at: .zero)
        #expect(first == [.cancel(request)])
        #expect(state.requests[request] == nil)
        window.fail(id)
        state.requests.wait(for: window[0].purpose)
        let second = state.release(window[0], at: .zero)
        #expect(second == [.disarm(.segment(id))])
        let third = state.release(window[0], at: .zero)
        #expect(third == [])
    }
}
