import HLSKitSelection

/// Decides what to load next: a few requests at a time, in presentation order, each segment after its map and keys.
/// Segments that a player waits for come first and do not count towards the limit.
struct DownloadPlan: Sendable {
    struct Item: Sendable, Hashable {
        var lane: Int
        var position: SegmentPosition
        var start: Duration
        var resources: [ResourceID] = []
        var isUrgent = false

        var id: ItemID { ItemID(lane: lane, position: position) }
    }

    struct ItemID: Sendable, Hashable {
        var lane: Int
        var position: SegmentPosition
    }

    enum Work: Sendable, Hashable {
        case resource(ResourceID, lane: Int)
        case segment(ItemID)
    }

    let capacity: Int
    /// Sorted by start time, then by lane.
    private var waiting: [Item] = []
    private var known: Set<ItemID> = []
    private(set) var inFlight: Set<Work> = []
    private var isThere: [ResourceID: Bool] = [:]

    init(capacity: Int) { self.capacity = capacity }

    /// Adds the segments that are new.
    ///
    /// - Returns: The segments that need an unavailable resource. They are not loaded.
    mutating func add(_ items: [Item]) -> [Item] {
        let new = items.filter { known.insert($0.id).inserted }
        let dropped = new.filter { $0.resources.contains { isThere[$0] == false } }
        waiting += new.filter { item in !dropped.contains { $0.id == item.id } }
        sort()
        return dropped
    }

    mutating func again(_ item: Item) {
        waiting.append(item)
        sort()
    }

    private mutating func sort() {
        waiting.sort {
            ($0.isUrgent ? 0 : 1, $0.start, $0.lane, $0.position.epoch, $0.position.sequence)
                < ($1.isUrgent ? 0 : 1, $1.start, $1.lane, $1.position.epoch, $1.position.sequence)
        }
    }

    mutating func hasten(_ wanted: DownloadDemand.Wanted) {
        let index =
            switch wanted {
            case .segment(let id): waiting.firstIndex { $0.id == id }
            case .resource(let id): isThere[id] == nil ? waiting.firstIndex { $0.resources.contains(id) } : nil
            }
        guard let index else { return }
        waiting[index].isUrgent = true
        sort()
    }

    /// Forgets failures, because the resources may be available now.
    mutating func forgetFailures() { isThere = isThere.filter(\.value) }

    func knows(_ id: ItemID) -> Bool { known.contains(id) }

    var isIdle: Bool { waiting.isEmpty && inFlight.isEmpty }

    mutating func next() -> [Work] {
        var started: [Work] = []
        var index = 0
        while index < waiting.count, inFlight.count < capacity || waiting[index].isUrgent {
            let item = waiting[index]
            let missing = item.resources.filter { isThere[$0] == nil }
            guard missing.isEmpty else {
                for resource in missing where inFlight.count < capacity || item.isUrgent {
                    let work = Work.resource(resource, lane: item.lane)
                    let isComing = inFlight.contains {
                        if case .resource(resource, _) = $0 { true } else { false }
                    }
                    if !isComing, inFlight.insert(work).inserted { started.append(work) }
                }
                index += 1
                continue
            }
            waiting.remove(at: index)
            inFlight.insert(.segment(item.id))
            started.append(.segment(item.id))
        }
        return started
    }

    /// Notes the end of some work. If a resource is unavailable, drops the segments that need it.
    ///
    /// - Returns: The dropped segments.
    mutating func finish(_ work: Work, succeeded: Bool = true) -> [ItemID] {
        inFlight.remove(work)
        guard case .resource(let resource, _) = work else { return [] }
        isThere[resource] = succeeded
        guard !succeeded else { return [] }
        let dropped = waiting.filter { $0.resources.contains(resource) }.map(\.id)
        waiting.removeAll { $0.resources.contains(resource) }
        return dropped
    }

    mutating func stop() { waiting = [] }
}
