/// How images are sent to a terminal.
package enum PreviewFormat: String, Sendable, Equatable, CaseIterable {
    /// kitty's graphics protocol with full-colour pixels.
    case kitty
    /// DEC's sixel graphics with 216 colours.
    case sixel
    /// Half blocks with two pixels per character, in 24-bit or 256 colours, for any terminal.
    case blocks

    /// Selects the best format for a terminal.
    ///
    /// - Parameters:
    ///   - environment: Returns environment variables.
    ///   - answer: The terminal's response to `CSI c`, or empty if it did not respond.
    init(environment: (String) -> String?, answer: some Sequence<UInt8>) {
        // Inside tmux and screen, the outer terminal is not relevant.
        let isInside = environment("TMUX") != nil || environment("STY") != nil
        let program = environment("TERM_PROGRAM") ?? ""
        let knowsKitty =
            environment("KITTY_WINDOW_ID") != nil || environment("TERM") == "xterm-kitty"
            || environment("TERM") == "xterm-ghostty" || ["ghostty", "WezTerm"].contains(program)
        if knowsKitty, !isInside {
            self = .kitty
        } else if Self.attributes(in: answer).contains(4) {
            self = .sixel
        } else {
            self = .blocks
        }
    }

    /// The numbers in a response to "primary device attributes": `ESC [ ? 62 ; 4 ; 22 c`. 4 is sixel.
    static func attributes(in answer: some Sequence<UInt8>) -> [Int] {
        let text = String(decoding: Array(answer), as: UTF8.self)
        guard let start = text.firstRange(of: "\u{1b}[?"), let end = text[start.upperBound...].firstIndex(of: "c")
        else {
            return []
        }
        return text[start.upperBound..<end].split(separator: ";").compactMap { Int($0) }
    }

    var rate: Int {
        switch self {
        case .kitty: 15
        case .sixel: 10
        case .blocks: 15
        }
    }
}
