/// The item times of the loaded frames at which decoding can start, in order.
struct SyncIndex: Sendable, Hashable {
    private(set) var times: [Duration] = []

    mutating func insert(_ new: [Duration]) {
        for time in new {
            // They usually arrive in order.
            var index = times.endIndex
            while index > 0, times[index - 1] > time { index -= 1 }
            if index > 0, times[index - 1] == time { continue }
            times.insert(time, at: index)
        }
    }

    mutating func removeAll(before time: Duration) {
        times.removeAll { $0 < time }
    }

    mutating func removeAll(from time: Duration) {
        times.removeAll { $0 >= time }
    }

    mutating func removeAll() {
        times.removeAll()
    }

    /// The latest allowed time up to `target` or, if there is none, the earliest allowed time after it.
    func landing(for target: Duration, where allows: (Duration) -> Bool) -> Duration? {
        times.last { $0 <= target && allows($0) } ?? times.first { $0 > target && allows($0) }
    }
}
