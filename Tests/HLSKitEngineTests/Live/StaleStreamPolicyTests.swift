import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@testable import HLSKitEngine

/// The last update came at 100 s, and the target duration is 4 s.
@Suite("Live streams without updates")
struct LiveSilenceTests {
    enum Step: Hashable { case again(Duration), leave, report, close, fail }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var now: Duration
        var facts: StaleStreamPolicy.Facts
        var expected: [Step]
    }

    static let cases = [
        Case(
            testDescription: "not long enough", now: .seconds(113), facts: .init(limit: .seconds(60)),
            expected: [.again(.seconds(160))]),
        Case(
            testDescription: "another machine may know more", now: .seconds(114), facts: .init(limit: .seconds(60)),
            expected: [.again(.seconds(160)), .leave]),
        Case(
            testDescription: "only a rendition", now: .seconds(114),
            facts: .init(limit: .seconds(60), isVariantLive: false), expected: [.again(.seconds(160)), .report]),
        Case(
            testDescription: "too long", now: .seconds(160), facts: .init(limit: .seconds(60)), expected: [.fail]),
        Case(
            testDescription: "too long, and that is an end", now: .seconds(160),
            facts: .init(limit: .seconds(60), endsQuietly: true), expected: [.close]),
        Case(
            testDescription: "a rendition ends nothing", now: .seconds(160),
            facts: .init(limit: .seconds(60), isVariantLive: false), expected: [.close]),
        Case(
            testDescription: "lists cannot be loaded", now: .seconds(160),
            facts: .init(limit: .seconds(60), isFailing: true), expected: [.again(.seconds(164)), .leave]),
        Case(
            testDescription: "it is waited for ever", now: .seconds(500), facts: .init(),
            expected: [.again(.seconds(504)), .leave]),
    ]

    private static func tracker(at now: Duration = .zero, isEnded: Bool = false) throws -> PlaylistTracker {
        PlaylistTracker(
            try PlaylistText.numbered(0, count: 3, isEnded: isEnded).parsed(), requestURL: "list", url: "list",
            start: .zero, loadBegan: now, now: .zero)
    }

    @Test("the response to silence depends on its duration and the policy", arguments: cases)
    func check(_ test: Case) throws {
        var silence = StaleStreamPolicy()
        silence.noteNews(at: .seconds(100))
        let actions = silence.check(try Self.tracker(at: test.now), test.facts, at: test.now)
        let steps = actions.map { action -> Step in
            switch action {
            case .checkAgain(let time): .again(time)
            case .leave: .leave
            case .report: .report
            case .close: .close
            case .fail: .fail
            }
        }
        #expect(steps == test.expected)
    }

    @Test("silence is reported once, and an ended stream stays ended")
    func notice() throws {
        var silence = StaleStreamPolicy()
        silence.noteNews(at: .seconds(100))
        silence.notice(at: .seconds(114))
        let facts = StaleStreamPolicy.Facts(limit: .seconds(60))
        #expect(silence.check(try Self.tracker(), facts, at: .seconds(115)).count == 1)
        #expect(silence.deadline(try Self.tracker(), limit: nil) == .seconds(160))
        #expect(silence.deadline(try Self.tracker(), limit: .seconds(10)) == .seconds(110))
        #expect(!silence.isClosed)
        silence.close()
        #expect(silence.isClosed)
    }

    @Test("reloads continue for longer if the app chooses to wait")
    func patience() throws {
        var preferences = PlayerItemPreferences()
        preferences.stalePolicy = .fail
        #expect(preferences.patience(with: try Self.tracker()) == .usual)
        preferences.staleLimit = .seconds(30)
        #expect(preferences.patience(with: try Self.tracker()) == .usual)
        preferences.staleLimit = .seconds(600)
        #expect(preferences.patience(with: try Self.tracker()) == .atLeast(.seconds(600)))
        #expect(preferences.silenceLimit(of: try Self.tracker()) == .seconds(600))
        preferences.stalePolicy = .wait
        #expect(preferences.patience(with: try Self.tracker()) == .endless)
        #expect(preferences.silenceLimit(of: try Self.tracker()) == nil)
        #expect(preferences.patience(with: try Self.tracker(isEnded: true)) == .usual)
        #expect(preferences.patience(with: nil) == .usual)
    }
}
