/// Makes one text after the other of texts that overlap: a text track of MP4 shows one sample at a time (3GPP TS 26.245).
///
/// Where several are shown at once, they are lines of one sample, in the order in which they began.
struct TextFlattener {
    /// A text and when it is shown, in ticks of its track.
    struct Piece: Equatable {
        var start: Int64
        var end: Int64
        var text: [UInt8]
    }

    /// No screen has room for more.
    private static let maximumCount = 64

    private var shown: [Piece] = []
    /// Up to where all has been handed out.
    private var reached = Int64.min

    /// Adds a text; what was handed out already stays as it is.
    ///
    /// - Returns: What is settled by that: texts come in the order in which they begin.
    mutating func add(_ piece: Piece) -> [Piece] {
        var piece = piece
        piece.start = max(piece.start, reached)
        let settled = take(until: piece.start, changing: true)
        if piece.start < piece.end, shown.count < Self.maximumCount { shown.append(piece) }
        return settled
    }

    /// Hands out what has ended by a time: nothing more comes of before it.
    mutating func settle(until time: Int64) -> [Piece] { take(until: time, changing: false) }

    /// - Parameter changing: what is shown changes at this time, so that what is shown until then ends there.
    private mutating func take(until time: Int64, changing: Bool) -> [Piece] {
        var pieces: [Piece] = []
        while let first = shown.map(\.start).min(), first < time {
            let start = max(first, reached)
            let current = shown.filter { $0.start <= start }
            let ends = current.map(\.end) + shown.filter { $0.start > start }.map(\.start)
            let next = ends.min() ?? time
            guard next <= time || changing else { return pieces }
            let end = min(next, time)
            let text = Array(current.map(\.text).joined(separator: [0x0A]))
            pieces.append(Piece(start: start, end: end, text: text))
            reached = end
            shown = shown.compactMap { piece in
                guard piece.end > end else { return nil }
                var rest = piece
                rest.start = max(piece.start, end)
                return rest
            }
        }
        reached = max(reached, time)
        return pieces
    }

    /// Hands out what is left; nothing more is added.
    mutating func finish() -> [Piece] { take(until: .max, changing: true) }
}
