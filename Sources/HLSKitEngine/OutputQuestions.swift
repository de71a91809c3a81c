/// Numbers the questions to the outputs whether media at the playhead is decoded. All items of an engine share the
/// numbers, since an answer may come when the item that it was asked for is gone.
struct OutputQuestions: Sendable {
    private(set) var last = 0

    mutating func next() -> Int {
        last += 1
        return last
    }
}
