/// Numbers the requests to outputs for decoded media at the playhead.
///
/// All items of an engine share the numbers because a response may arrive after its item was removed.
struct OutputQuestions: Sendable {
    private(set) var last = 0

    mutating func next() -> Int {
        last += 1
        return last
    }
}
