/// How much media time was played, forwards and backwards: what was jumped over is left out.
struct WatchedTime: Sendable {
    private(set) var total = Duration.zero
    private var place = Duration.zero

    init(from place: Duration = .zero) { self.place = place }

    /// Played on to a time.
    mutating func advance(to time: Duration) {
        total = total(upTo: time)
        place = time
    }

    mutating func jump(to time: Duration) { place = time }

    func total(upTo time: Duration) -> Duration { total + (time > place ? time - place : place - time) }
}
