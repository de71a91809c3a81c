import HLSKitPlaylist
import HLSKitSelection
import Testing

@testable import HLSKitEngine
@testable import HLSKitLoading

@Suite("Key leases")
struct KeyLeasesTests {
    private static let key = ResourceID(kind: .key, url: "https://host/key")

    private static func job() -> SegmentJob {
        SegmentJob(
            id: SegmentID(lane: .main, rawValue: 1), request: RequestID(rawValue: 0),
            key: SegmentKey(resource: key, initializationVector: []), start: .zero, duration: .seconds(4), timeline: 0,
            window: PresentationWindow(), startsNewSequence: false, url: "s", mediaSequence: 0)
    }

    /// Starts a segment, and returns the key generation that it uses and the generations that it requests.
    private static func begin(_ leases: inout KeyLeases, at seconds: Int) -> (used: Int?, asked: [Int]) {
        var job = job()
        let renewals = leases.assign(to: &job, at: .seconds(seconds))
        return (job.key?.resource.generation, renewals.map(\.generation))
    }

    private static func generation(_ number: Int) -> ResourceID {
        var key = key
        key.generation = number
        return key
    }

    @Test("keys without a lease are valid for ever")
    func plain() {
        var leases = KeyLeases()
        leases.load(Self.key)
        let begun = Self.begin(&leases, at: 1_000_000)
        #expect(begun.used == 0 && begun.asked.isEmpty)
        let isDoubted = leases.doubt(Self.key)
        #expect(!isDoubted)
        #expect(leases.reason(for: Self.key) == .needed)
    }

    @Test("N04: a key is renewed in parallel, and the new one is used when it arrives")
    func renewal() {
        var leases = KeyLeases()
        leases.note(KeyTerms(renewal: .seconds(10), expiration: .seconds(30)), of: Self.key, at: .seconds(100))
        leases.load(Self.key)
        #expect(Self.begin(&leases, at: 109) == (0, []))
        // Until the new key arrives, each segment requests it. The caller filters out requests in flight.
        #expect(Self.begin(&leases, at: 110) == (0, [1]))
        #expect(Self.begin(&leases, at: 112) == (0, [1]))
        #expect(leases.reason(for: Self.generation(1)) == .renewal)
        leases.note(KeyTerms(renewal: .seconds(10)), of: Self.generation(1), at: .seconds(113))
        #expect(Self.begin(&leases, at: 114) == (0, [1]), "only its header is here")
        leases.load(Self.generation(1))
        #expect(Self.begin(&leases, at: 115) == (1, []))
        leases.load(Self.key)
        #expect(Self.begin(&leases, at: 122) == (1, []))
        #expect(Self.begin(&leases, at: 123) == (1, [2]))
        #expect(Self.begin(&leases, at: 1_000) == (1, [2]), "this one does not expire")
    }

    @Test("N04: an expired key is not used, even if no new one has arrived")
    func expiration() {
        var leases = KeyLeases()
        leases.note(KeyTerms(expiration: .seconds(30)), of: Self.key, at: .zero)
        leases.load(Self.key)
        #expect(Self.begin(&leases, at: 29) == (0, []))
        #expect(Self.begin(&leases, at: 30) == (1, []))
        #expect(Self.begin(&leases, at: 31) == (1, []), "it is on its way")
        #expect(leases.reason(for: Self.generation(1)) == .renewal)
        #expect(leases.current(of: SegmentKey(resource: Self.key, initializationVector: [])).resource.generation == 1)
    }

    @Test("N04: a key that does not decrypt is replaced once, until the new one decrypts media")
    func doubt() {
        var leases = KeyLeases()
        leases.note(KeyTerms(), of: Self.key, at: .zero)
        leases.load(Self.key)
        let isReplaced = leases.doubt(Self.key)
        #expect(isReplaced)
        #expect(Self.begin(&leases, at: 1) == (1, []))
        #expect(leases.reason(for: Self.generation(1)) == .receivedObsoleteContentKey)
        let isLate = leases.doubt(Self.key)
        #expect(isLate, "a segment that was begun with the old one")
        #expect(Self.begin(&leases, at: 1) == (1, []))
        leases.note(KeyTerms(), of: Self.generation(1), at: .seconds(1))
        leases.load(Self.generation(1))
        let isReplacedAgain = leases.doubt(Self.generation(1))
        #expect(!isReplacedAgain)
        leases.prove(Self.key)
        let isReplacedByOld = leases.doubt(Self.generation(1))
        #expect(!isReplacedByOld, "the old one proves nothing")
        leases.prove(Self.generation(1))
        let isReplacedLater = leases.doubt(Self.generation(1))
        #expect(isReplacedLater)
    }
}
