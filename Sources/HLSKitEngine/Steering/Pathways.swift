import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection

/// The pathways of an item's variants: their order, and which of them failed recently.
///
/// A pathway is named by `PATHWAY-ID`. If no variant has that attribute and there is no content steering, the origin of
/// the media playlist is the pathway. A failure makes the player leave a pathway at most once per penalty time: if all
/// pathways are penalized, nothing changes.
struct Pathways: Sendable {
    /// Whether the playlist names the pathways. In that case only the variants of one pathway are used at a time.
    private(set) var isNamed = false
    private(set) var names: [String] = []
    /// The pathway of each variant, by the variant's index.
    private var placement: [String] = []
    /// The initial pathway that `EXT-X-CONTENT-STEERING` names.
    private var first: String?
    /// The order that the steering server sent.
    private var priority: [String] = []
    private var vanished: Set<String> = []
    /// The pathway that the app prefers.
    private(set) var preferred: String?

    private let penalty: Duration
    private var releases: [String: Duration] = [:]
    /// Pathways that were left because of a failure and have not been used since.
    private var failed: Set<String> = []
    private var isLeaving = false
    /// The pathway in use, or `nil` before the first choice.
    private(set) var current: String?
    private(set) var moveCount = 0

    init(penalty: Duration = RetryPolicies().penalty) { self.penalty = penalty }

    var isOn: Bool { names.count > 1 }

    // MARK: Variants

    mutating func open(_ variants: [AssetVariant], steering: ContentSteering?, base: String?) {
        isNamed = steering != nil || variants.contains { $0.pathwayID != nil }
        first = steering?.pathwayID
        place(variants, base: base)
    }

    /// Called when the playlist has been replaced. The variants are the same, but their URLs may differ and new ones
    /// may follow.
    mutating func place(_ variants: [AssetVariant], base: String?) {
        placement = variants.map { isNamed ? $0.pathwayID ?? "." : Self.origin(of: $0, base: base) }
        var known: Set<String> = []
        names = placement.filter { known.insert($0).inserted }
    }

    private static func origin(of variant: AssetVariant, base: String?) -> String {
        let url = base.flatMap { URIReference.resolve(variant.uri, against: $0) } ?? variant.uri
        return URLOrigin(of: url)?.description ?? ""
    }

    subscript(index: Int) -> String? { placement.indices.contains(index) ? placement[index] : nil }

    // MARK: Order

    /// Applies the order of a steering server, without the pathways that it no longer offers.
    mutating func follow(_ priority: [String], without vanished: Set<String>) {
        self.priority = priority
        self.vanished = vanished
    }

    mutating func prefer(_ name: String?) { preferred = name }

    /// All pathways, in the order in which to use them. Penalized pathways come last, sorted by the end of their
    /// penalty. If all are penalized, the one in use stays first.
    func order(at now: Duration) -> [String] {
        guard isOn else { return [] }
        let wanted = preferences
        let free = wanted.filter { !isPenalized($0, at: now) }
        var held = wanted.filter { isPenalized($0, at: now) }
        held.sort { releases[$0, default: .zero] < releases[$1, default: .zero] }
        if free.isEmpty, !isLeaving, let current, let index = held.firstIndex(of: current) {
            held.remove(at: index)
            held.insert(current, at: 0)
        }
        return free + held
    }

    /// The order without penalties. Pathways that the server does not name are used if all named ones fail.
    private var preferences: [String] {
        let offered = names.filter { !vanished.contains($0) }
        let start = priority.isEmpty ? [first].compactMap(\.self) : priority
        var seen: Set<String> = []
        return ([preferred].compactMap(\.self) + start + offered).filter {
            offered.contains($0) && seen.insert($0).inserted
        }
    }

    // MARK: Penalty

    func isPenalized(_ name: String, at now: Duration) -> Bool { releases[name].map { $0 > now } ?? false }

    /// Whether a failure may cause a switch from the pathway in use.
    ///
    /// It may if another pathway exists and this one was not left recently.
    func mayLeave(at now: Duration) -> Bool {
        guard let current, isOn else { return false }
        return !isPenalized(current, at: now) && preferences.contains { $0 != current }
    }

    /// Called when the pathway in use fails. Another one is used next.
    mutating func leave(at now: Duration) {
        guard let current else { return }
        releases[current] = now + penalty
        failed.insert(current)
        isLeaving = true
    }

    /// Variants to avoid because of their pathway, if several pathways may be used side by side.
    func penalizedVariants(at now: Duration) -> Set<Int> {
        guard !isNamed, isOn, !releases.isEmpty, let first = order(at: now).first else { return [] }
        return Set(placement.indices.filter { placement[$0] != first && isPenalized(placement[$0], at: now) })
    }

    mutating func forgive() { releases = [:] }

    // MARK: Use

    struct Move: Sendable, Hashable {
        var old: String
        var new: String
        var reason: PathwayChangeReason
    }

    /// Called when a variant starts to be used. Returns `nil` if its pathway was already in use.
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
        guard preferences.first == name else { return .variant }
        if preferred == name { return .preference }
        return priority.isEmpty ? .variant : .steering
    }
}
