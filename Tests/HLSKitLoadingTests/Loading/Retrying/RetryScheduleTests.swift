import HLSKitTime
import Testing

@testable import HLSKitLoading

@Suite("Retry schedule")
struct RetryScheduleTests {
    private typealias Schedule = RetrySchedule<String>

    /// Repeated failures of one role. The clock advances by each wait that the schedule decides.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var cause: RequestFailure.Cause
        var kind = RetryTerms.Kind.segment
        var isLive = false
        var isAtLiveEdge = false
        var hasAlternative = false
        var expected: [RetrySchedule<String>.Decision]
    }

    private static func status(_ status: Int, retryAfter: Duration? = nil) -> RequestFailure.Cause {
        .loading(
            LoadingError(code: .httpStatus, url: "u", status: status, retryAfter: retryAfter, text: "HTTP \(status)"))
    }

    private static func error(_ code: LoadingError.Code) -> RequestFailure.Cause {
        .loading(LoadingError(code: code, url: "u", text: code.rawValue))
    }

    private static let emptyFile = RequestFailure.Cause.loading(
        LoadingError(code: .emptyBody, url: "file:///e.mp4", text: "the file is empty"))

    private static func after(_ seconds: Double...) -> [Schedule.Decision] {
        seconds.map { .retry(after: .milliseconds(Int64($0 * 1000))) }
    }

    /// 0.5, 1, 2 and then 4 s, until the budget of 20 s is used up.
    private static let schedule = after(0.5, 1, 2, 4, 4, 4, 4)

    private static let segments: [Case] = [
        Case(
            testDescription: "R1, R2: 404, another variant", cause: status(404), hasAlternative: true,
            expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R2: 410, another variant", cause: status(410), hasAlternative: true,
            expected: after(0.5) + [.failOver]),
        Case(testDescription: "R3: 404, no other variant", cause: status(404), expected: after(0.5) + [.skip]),
        Case(testDescription: "R4: 403", cause: status(403), hasAlternative: true, expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R5: Retry-After is waited for exactly", cause: status(429, retryAfter: .seconds(7)),
            expected: after(7, 7) + [.skip]),
        Case(
            testDescription: "R6: a long Retry-After, another variant",
            cause: status(503, retryAfter: .seconds(86_400)),
            hasAlternative: true, expected: [.failOver]),
        Case(
            testDescription: "R6: a long Retry-After, no other variant",
            cause: status(503, retryAfter: .seconds(86_400)),
            expected: after(10, 10) + [.skip]),
        Case(testDescription: "R7: 503, no other variant", cause: status(503), expected: schedule + [.skip]),
        Case(
            testDescription: "R7: 503, another variant", cause: status(503), hasAlternative: true,
            expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R7: 408 passes like 5xx", cause: status(408), hasAlternative: true,
            expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R7: the live budget is longer", cause: status(503), isLive: true,
            expected: schedule + [Schedule.Decision](repeating: .retry(after: .seconds(4)), count: 10) + [.skip]),
        Case(
            testDescription: "R10: an empty body", cause: error(.emptyBody), hasAlternative: true,
            expected: after(0.5) + [.failOver]),
        Case(testDescription: "R14: the range is not there", cause: error(.badRange), expected: after(0.5) + [.skip]),
        Case(testDescription: "R15: cut off", cause: error(.connectionLost), expected: schedule + [.skip]),
        Case(
            testDescription: "R17: timed out", cause: error(.timedOut), hasAlternative: true,
            expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R19: refused, another variant", cause: error(.cannotConnect), hasAlternative: true,
            expected: [.failOver]),
        Case(
            testDescription: "R19: no such name, another variant", cause: error(.nameNotFound), hasAlternative: true,
            expected: [.failOver]),
        Case(testDescription: "R19: TLS, no other variant", cause: error(.tlsHandshake), expected: schedule + [.skip]),
        Case(
            testDescription: "R20: untrusted, another variant", cause: error(.untrustedCertificate),
            hasAlternative: true, expected: [.failOver]),
        Case(
            testDescription: "R20: untrusted, no other variant: lost like any other",
            cause: error(.untrustedCertificate),
            expected: [.skip]),
        Case(testDescription: "R22: a loop of redirects", cause: error(.tooManyRedirects), expected: [.skip]),
        Case(testDescription: "R25: damaged coding", cause: error(.badContentEncoding), expected: schedule + [.skip]),
        Case(testDescription: "R28: too large", cause: error(.tooLarge), expected: [.skip]),
        Case(
            testDescription: "R28: too large, another variant", cause: error(.tooLarge), hasAlternative: true,
            expected: [.failOver]),
        Case(testDescription: "R55: a scheme that is refused", cause: error(.refused), expected: [.skip]),
        Case(
            testDescription: "R55: a scheme that is refused, another variant", cause: error(.refused),
            hasAlternative: true, expected: [.failOver]),
        Case(testDescription: "a file that is not there", cause: error(.fileNotFound), expected: [.skip]),
        Case(
            testDescription: "R67: damaged media", cause: .badContent(url: "u"), hasAlternative: true,
            expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R67: damaged media, no other variant", cause: .badContent(url: "u"),
            expected: after(0.5) + [.skip]),
    ]

    private static let others: [Case] = [
        Case(
            testDescription: "an empty file, which no wait will fill", cause: emptyFile, kind: .firstPlaylist,
            expected: [.fail(.badPlaylist)]),
        Case(
            testDescription: "R11: 5xx on the first playlist", cause: status(500), kind: .firstPlaylist,
            expected: schedule + [.fail(.network)]),
        Case(
            testDescription: "R11: no connection for the first playlist", cause: error(.cannotConnect),
            kind: .firstPlaylist, expected: schedule + [.fail(.network)]),
        Case(
            testDescription: "a name that does not exist", cause: error(.nameNotFound), kind: .firstPlaylist,
            expected: after(0.5) + [.fail(.network)]),
        Case(
            testDescription: "R12: 404 on the first playlist", cause: status(404), kind: .firstPlaylist,
            expected: [.fail(.notFound)]),
        Case(testDescription: "R12: 410", cause: status(410), kind: .firstPlaylist, expected: [.fail(.notFound)]),
        Case(testDescription: "R12: 401", cause: status(401), kind: .firstPlaylist, expected: [.fail(.notFound)]),
        Case(
            testDescription: "R4: 403 on the first playlist", cause: status(403), kind: .firstPlaylist,
            expected: [.fail(.notFound)]),
        Case(
            testDescription: "a first file that is not there", cause: error(.fileNotFound), kind: .firstPlaylist,
            expected: [.fail(.notFound)]),
        Case(
            testDescription: "R20: untrusted first playlist", cause: error(.untrustedCertificate), kind: .firstPlaylist,
            expected: [.fail(.refused)]),
        Case(
            testDescription: "R22: a loop of redirects first", cause: error(.tooManyRedirects), kind: .firstPlaylist,
            expected: [.fail(.network)]),
        Case(
            testDescription: "R27: a playlist that is too large", cause: error(.tooLarge), kind: .firstPlaylist,
            expected: [.fail(.refused)]),
        Case(
            testDescription: "R31: no playlist at all", cause: .badContent(url: "u"), kind: .firstPlaylist,
            expected: [.fail(.badPlaylist)]),
        Case(
            testDescription: "R13: 404 on a variant's playlist", cause: status(404), kind: .mediaPlaylist,
            hasAlternative: true, expected: [.failOver]),
        Case(
            testDescription: "R13: HTML for a variant's playlist", cause: .badContent(url: "u"), kind: .mediaPlaylist,
            hasAlternative: true, expected: [.failOver]),
        Case(
            testDescription: "all media playlists answer 404", cause: status(404), kind: .mediaPlaylist,
            expected: after(0.5) + [.fail(.notFound)]),
        Case(
            testDescription: "no media playlist is one", cause: .badContent(url: "u"), kind: .mediaPlaylist,
            expected: [.fail(.badPlaylist)]),
        Case(
            testDescription: "R7: a variant's playlist answers 5xx", cause: status(502), kind: .mediaPlaylist,
            hasAlternative: true, expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R39: reloads go on for a minute, 404 as well", cause: status(404), kind: .reload,
            isLive: true,
            expected: after(0.5, 1, 2) + [Schedule.Decision](repeating: .retry(after: .seconds(3)), count: 18) + [
                .fail(.notFound)
            ]),
        Case(
            testDescription: "R39: reloads take another variant", cause: status(404), kind: .reload, isLive: true,
            hasAlternative: true, expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R48: reloads that are none go on for a minute", cause: .badContent(url: "u"),
            kind: .reload, isLive: true,
            expected: after(0.5, 1, 2) + [Schedule.Decision](repeating: .retry(after: .seconds(3)), count: 18) + [
                .fail(.badPlaylist)
            ]),
        Case(
            testDescription: "R48: reloads that are none take another variant", cause: .badContent(url: "u"),
            kind: .reload, isLive: true, hasAlternative: true, expected: after(0.5) + [.failOver]),
        Case(
            testDescription: "R49: a key answers 5xx", cause: status(500), kind: .key,
            expected: schedule + [.fail(.contentKey)]),
        Case(
            testDescription: "R49: a key hangs", cause: error(.timedOut), kind: .key,
            expected: schedule + [.fail(.contentKey)]),
        Case(
            testDescription: "R50: a key answers 403", cause: status(403), kind: .key,
            expected: after(0.5) + [.fail(.contentKey)]),
        Case(
            testDescription: "R50: a key that is none", cause: .badContent(url: "u"), kind: .key,
            expected: after(0.5) + [.fail(.contentKey)]),
        Case(
            testDescription: "R20: a key from an untrusted server", cause: error(.untrustedCertificate), kind: .key,
            expected: [.fail(.refused)]),
        Case(
            testDescription: "R70: a damaged initialization section", cause: .badContent(url: "u"),
            kind: .initializationSection, expected: after(0.5) + [.fail(.badMedia)]),
    ]

    @Test("D04: each fault is handled according to the fault table", arguments: segments + others)
    private func fault(_ testCase: Case) {
        var schedule = Schedule(policies: RetryPolicies(jitter: 0))
        var now = Duration.seconds(100)
        var decisions: [Schedule.Decision] = []
        while decisions.count < 30 {
            let failure = RequestFailure(
                cause: testCase.cause,
                terms: .init(
                    kind: testCase.kind, isLive: testCase.isLive, isAtLiveEdge: testCase.isAtLiveEdge,
                    hasAlternative: testCase.hasAlternative))
            let decision = schedule.decide(failure, for: "role", at: now)
            decisions.append(decision)
            guard case .retry(let delay) = decision else { break }
            now += delay
        }
        #expect(decisions == testCase.expected)
    }

    @Test("R46: a live segment at the edge is retried each 0.5 to 1 s, for three target durations")
    func liveEdge() {
        var schedule = Schedule(seed: 7)
        var now = Duration.zero
        var decision = Schedule.Decision.failOver
        while true {
            let failure = RequestFailure(
                cause: Self.status(404),
                terms: .init(
                    kind: .segment, isLive: true, isAtLiveEdge: true, targetDuration: .seconds(4),
                    hasAlternative: true))
            decision = schedule.decide(failure, for: "role", at: now)
            guard case .retry(let delay) = decision else { break }
            #expect((.milliseconds(500)...Duration.seconds(1)).contains(delay))
            now += delay
        }
        #expect(decision == .failOver)
        #expect((.seconds(11)...Duration.seconds(12)).contains(now))
    }

    @Test("attempts are counted per URL, the budget per role")
    func perURL() {
        var schedule = Schedule(policies: RetryPolicies(jitter: 0))
        func decide(_ url: String, at seconds: Int, hasAlternative: Bool) -> Schedule.Decision {
            let error = LoadingError(code: .httpStatus, url: url, status: 500, text: "HTTP 500")
            return schedule.decide(
                .init(cause: .loading(error), terms: .init(kind: .segment, hasAlternative: hasAlternative)),
                for: "role",
                at: .seconds(seconds))
        }
        #expect(decide("a", at: 0, hasAlternative: true) == .retry(after: .milliseconds(500)))
        #expect(decide("a", at: 1, hasAlternative: true) == .failOver)
        #expect(decide("b", at: 2, hasAlternative: true) == .retry(after: .seconds(2)))
        #expect(decide("b", at: 4, hasAlternative: false) == .retry(after: .seconds(4)))
        #expect(decide("b", at: 17, hasAlternative: false) == .skip)
        #expect(decide("c", at: 18, hasAlternative: false) == .retry(after: .milliseconds(500)))
    }

    @Test("R7: all variants share one budget, however many there are")
    func budgetOfAllVariants() {
        var schedule = Schedule(policies: RetryPolicies(jitter: 0))
        var now = Duration.zero
        var decisions: [Schedule.Decision] = []
        for number in 0..<40 {
            let error = LoadingError(code: .httpStatus, url: "v\(number / 2)", status: 503, text: "HTTP 503")
            let decision = schedule.decide(
                .init(cause: .loading(error), terms: .init(kind: .segment, hasAlternative: true)), for: "role",
                at: now)
            decisions.append(decision)
            if decision == .skip { break }
            if case .retry(let delay) = decision { now += delay } else { now += .milliseconds(50) }
        }
        #expect(decisions.last == .skip)
        #expect((.seconds(16)...Duration.seconds(24)).contains(now))
    }

    @Test("R8: a success restores the budget")
    func success() {
        var schedule = Schedule(policies: RetryPolicies(jitter: 0))
        let failure = RequestFailure(cause: Self.status(500), kind: .segment)
        for segment in 0..<50 {
            let decision = schedule.decide(failure, for: "role", at: .seconds(10 * segment))
            #expect(decision == .retry(after: .milliseconds(500)))
            schedule.succeed("role")
        }
    }

    @Test("roles do not share their counts")
    func roles() {
        var schedule = Schedule(policies: RetryPolicies(jitter: 0))
        let failure = RequestFailure(cause: Self.status(404), kind: .segment)
        let first = schedule.decide(failure, for: "video", at: .zero)
        let second = schedule.decide(failure, for: "audio", at: .zero)
        #expect(first == .retry(after: .milliseconds(500)) && second == first)
    }

    @Test("delays are spread by the jitter, and equal for equal seeds")
    func jitter() {
        func delays(seed: UInt64) -> [Schedule.Decision] {
            var schedule = Schedule(seed: seed)
            return (0..<4).map {
                schedule.decide(.init(cause: Self.status(500), kind: .segment), for: "r", at: .seconds($0))
            }
        }
        #expect(delays(seed: 1) == delays(seed: 1))
        #expect(delays(seed: 1) != delays(seed: 2))
        for (decision, base) in zip(delays(seed: 3), [0.5, 1, 2, 4]) {
            guard case .retry(let delay) = decision else {
                Issue.record("no retry")
                return
            }
            #expect((base * 0.75...base * 1.25).contains(delay.seconds))
        }
    }

    @Test(
        "100 clients disconnected together return spread over half a target duration",
        arguments: [2, 4, 6, 10])
    func spread(target: Int) {
        for earlierCount in [0, 3] {
            let times = (0..<100).map { client -> Double in
                var schedule = Schedule(seed: UInt64(client) &* 0x9E37_79B9_7F4A_7C15)
                let failure = RequestFailure(
                    cause: Self.error(.connectionLost),
                    terms: .init(kind: .reload, isLive: true, targetDuration: .seconds(target)))
                for count in 0..<earlierCount { _ = schedule.decide(failure, for: "list", at: .seconds(count)) }
                guard case .retry(let delay) = schedule.decide(failure, for: "list", at: .seconds(10)) else { return 0 }
                return delay.seconds
            }.sorted()
            #expect(times[0] >= 0.2)
            #expect((times[99] - times[0]) > Double(target) * 0.45)
            for time in times { #expect(times.count { $0 >= time && $0 < time + Double(target) / 20 } <= 20) }
        }
    }

    @Test("reloads of an awaited stream continue for the set time", arguments: [(300, 290, true), (300, 310, false)])
    func patience(limit: Int, seconds: Int, continues: Bool) {
        for patience in [RetryTerms.Patience.atLeast(.seconds(limit)), .endless] {
            var schedule = Schedule(policies: RetryPolicies(jitter: 0))
            var failure = RequestFailure(cause: Self.status(404), terms: .init(kind: .reload, isLive: true))
            failure.terms.patience = patience
            _ = schedule.decide(failure, for: "r", at: .zero)
            let decision = schedule.decide(failure, for: "r", at: .seconds(seconds))
            #expect(decision == (continues || patience == .endless ? .retry(after: .seconds(1)) : .fail(.notFound)))
        }
    }

    @Test("a retry limit applies before the budget")
    func retryLimit() {
        var schedule = Schedule(policies: RetryPolicies(jitter: 0, maximumRetryCount: 1))
        let failure = RequestFailure(cause: Self.status(500), kind: .segment)
        let decisions = [
            schedule.decide(failure, for: "r", at: .zero), schedule.decide(failure, for: "r", at: .seconds(1)),
        ]
        #expect(decisions == [.retry(after: .milliseconds(500)), .skip])
    }

    @Test("D04: a class of resources has its own delays, budget and attempts; other classes keep theirs")
    func ownPolicy() {
        var policies = RetryPolicies(jitter: 0)
        policies[.key].maximumRetryCount = 1
        policies[.key].delays = [.milliseconds(100)]
        policies[.initializationSection].budget = .seconds(1)
        func decisions(_ kind: RetryTerms.Kind) -> [Schedule.Decision] {
            var schedule = Schedule(policies: policies)
            var (now, decisions) = (Duration.zero, [Schedule.Decision]())
            while decisions.count < 20 {
                let failure = RequestFailure(cause: Self.status(503), kind: kind)
                decisions.append(schedule.decide(failure, for: "a", at: now))
                guard case .retry(let delay) = decisions.last else { break }
                now += delay
            }
            return decisions
        }
        #expect(decisions(.key) == Self.after(0.1) + [.fail(.contentKey)])
        #expect(decisions(.initializationSection) == Self.after(0.5) + [.fail(.network)])
        #expect(decisions(.segment) == Self.schedule + [.skip])
    }

    @Test("D04: a value for all classes does not change a class with its own value")
    func ownDeadlines() {
        var timeouts = ResourceTimeouts()
        timeouts[.key].firstByte = .seconds(2)
        timeouts.firstByte = .seconds(5)
        #expect(timeouts[.key].firstByte == .seconds(2))
        #expect(timeouts[.segment].firstByte == .seconds(5))
        #expect(timeouts.firstByte == .seconds(5))
    }

    @Test("the patient policies never skip")
    func patient() {
        var schedule = Schedule(policies: .patient)
        for cause in [
            Self.status(404), Self.status(500), Self.error(.timedOut), RequestFailure.Cause.badContent(url: "u"),
        ] {
            for second in stride(from: 0, to: 10_000, by: 10) {
                let decision = schedule.decide(.init(cause: cause, kind: .segment), for: "r", at: .seconds(second))
                guard case .retry = decision else {
                    Issue.record("\(decision)")
                    return
                }
            }
        }
    }
}
