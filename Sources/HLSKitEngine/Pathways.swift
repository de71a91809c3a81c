import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// Knows from where the variants of an item come, in which order these places are used, and which of them failed of late.
///
/// A pathway is named by `PATHWAY-ID`, or is the origin of media playlists where no variant has one and nobody steers. It is
/// left for a failure at most once in its penalty time: where all are in theirs, nothing moves.
///
/// Source: docs/behaviour/pathways.md.
struct Pathways: Sendable {
    /// The playlist names them: only variants of one are used at a time.
    private(set) var isNamed = false
    /// In the order of the playlist.
    private(set) var names: [String] = []
    /// Of each variant, by its index.
    private var placement: [String] = []
    /// The one that the tag begins with.
    private var first: String?
    /// As the steering server has it.
    private var priority: [String] = []
    private var vanished: Set<String> = []
    /// The one that the program prefers.
    private(set) var preferred: String?

    private let penalty: Duration
    private var releases: [String: Duration] = [:]
    /// Left for a failure, and not used since.
    private var failed: Set<String> = []
    private var isLeaving = false
    /// The one in use; nil before the first choice.
    private(set) var current: String?
    /// How often another one was used.
    private(set) var moveCount = 0

    /// - Parameter penalty: how long one that failed is avoided.
    init(penalty: Duration = RetryPolicies().penalty) { self.penalty = penalty }

    /// There is more than one.
    var isOn: Bool { names.count > 1 }

    // MARK: Variants

    /// Takes the variants of a playlist.
    ///
    /// - Parameters:
    ///   - steering: its tag.
    ///   - base: its URL.
    mutating func open(_ variants: [AssetVariant], steering: ContentSteering?, base: String?) {
        isNamed = steering != nil || variants.contains { $0.pathwayID != nil }
        first = steering?.pathwayID
        place(variants, base: base)
    }

    /// The playlist has become another one: the variants are the same, perhaps at other places and with others behind
    /// them.
    mutating func place(_ variants: [AssetVariant], base: String?) {
        placement = variants.map { isNamed ? $0.pathwayID ?? "." : Self.origin(of: $0, base: base) }
        var known: Set<String> = []
        names = placement.filter { known.insert($0).inserted }
    }

    private static func origin(of variant: AssetVariant, base: String?) -> String {
        let url = base.flatMap { URIReference.resolve(variant.uri, against: $0) } ?? variant.uri
        return URLOrigin(of: url)?.description ?? ""
    }

    /// The pathway of a variant.
    subscript(index: Int) -> String? { placement.indices.contains(index) ? placement[index] : nil }

    // MARK: Order

    /// Takes the order of a steering server, and what it does not offer any more.
    mutating func follow(_ priority: [String], without vanished: Set<String>) {
        self.priority = priority
        self.vanished = vanished
    }

    mutating func prefer(_ name: String?) { preferred = name }

    /// All of them, the one to use first. Those in their penalty come last, the one that is over soonest first; but where
    /// all are in theirs, the one in use stays.
    func order(at now: Duration) -> [String] {
        guard isOn else { return [] }
        let wanted = wishes
        let free = wanted.filter { !isPenalized($0, at: now) }
        var held = wanted.filter { isPenalized($0, at: now) }
        held.sort { releases[$0, default: .zero] < releases[$1, default: .zero] }
        if free.isEmpty, !isLeaving, let current, let index = held.firstIndex(of: current) {
            held.remove(at: index)
            held.insert(current, at: 0)
        }
        return free + held
    }

    /// Without penalties. One that the server does not name is used where all that it names fail.
    private var wishes: [String] {
        let offered = names.filter { !vanished.contains($0) }
        let start = priority.isEmpty ? [first].compactMap(\.self) : priority
        var seen: Set<String> = []
        return ([preferred].compactMap(\.self) + start + offered).filter {
            offered.contains($0) && seen.insert($0).inserted
        }
    }

    // MARK: Penalty

    func isPenalized(_ name: String, at now: Duration) -> Bool { releases[name].map { $0 > now } ?? false }

    /// The one in use may be left for a failure: there is another, and it was not left of late.
    func mayLeave(at now: Duration) -> Bool {
        guard let current, isOn else { return false }
        return !isPenalized(current, at: now) && wishes.contains { $0 != current }
    }

    /// The one in use did not deliver: another one is used next.
    mutating func leave(at now: Duration) {
        guard let current else { return }
        releases[current] = now + penalty
        failed.insert(current)
        isLeaving = true
    }

    /// Variants that are avoided since their pathway is, where variants of others may be used beside them.
    func penalizedVariants(at now: Duration) -> Set<Int> {
        guard !isNamed, isOn, !releases.isEmpty, let first = order(at: now).first else { return [] }
        return Set(placement.indices.filter { placement[$0] != first && isPenalized(placement[$0], at: now) })
    }

    /// All may be used again.
    mutating func forgive() { releases = [:] }

    // MARK: Use

    /// A move from one to another.
    struct Move: Sendable, Hashable {
        var old: String
        var new: String
        var reason: PathwayChangeReason
    }

    /// A variant is used from now on. nil where its pathway was in use before.
    mutating func use(_ index: Int) -> Move? {
        guard let name = self[index] else { return nil }
        defer {
            current = name
            failed.remove(name)
            isLeaving = false
        }
        guard let current, current != name else { return nil }
        moveCount += 1
        return Move(old: current, new: name, reason: reason(for: name, insteadOf: current))
    }

    private func reason(for name: String, insteadOf old: String) -> PathwayChangeReason {
        if isLeaving { return .failure }
        if vanished.contains(old) { return .steering }
        if failed.contains(name) { return .recovery }
        guard wishes.first == name else { return .variant }
        if preferred == name { return .preference }
        return priority.isEmpty ? .variant : .steering
    }
}
