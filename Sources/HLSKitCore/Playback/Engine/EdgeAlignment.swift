/// Brings playing by parts to its distance from the live edge when it begins.
///
/// A list says what there is, and not since when: the edge may be a part further on. Playing starts where the distance is right
/// once the next part is listed, and waits for that list; the picture is there meanwhile.
///
/// See docs/behaviour/live.md.
struct EdgeAlignment: Sendable, Hashable {
    /// Playing waits for the next list, which tells where the edge is.
    private(set) var isWaiting = false

    /// How much nearer to the edge than the list says playing starts; zero where it does not wait for the next one.
    ///
    /// - Parameter offset: the distance to play at.
    static func lead(offset: Duration, part: Duration) -> Duration { offset >= part * 2 ? part : .zero }

    /// Playing starts so much nearer, and waits.
    mutating func begin(lead: Duration) { isWaiting = lead > .zero }

    /// A newer list is here, none comes, or the playhead was moved.
    mutating func end() { isWaiting = false }
}
