/// How images are sent to a terminal.
package enum PreviewFormat: String, Sendable, Equatable, CaseIterable {
    /// kitty's graphics protocol: pixels as they are.
    case kitty
    /// DEC's sixel graphics: pixels of 216 colours.
    case sixel
    /// Half blocks in 24-bit colour: two pixels a character, in any terminal.
    case blocks

    /// The best that a terminal can.
    ///
    /// - Parameters:
    ///   - environment: its variables.
    ///   - answer: what it says of itself when it is asked (`CSI c`); empty if it does not.
    init(environment: (String) -> String?, answer: some Sequence<UInt8>) {
        // Inside of tmux and screen the terminal outside does not count.
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

    /// The numbers of an answer to "primary device attributes": `ESC [ ? 62 ; 4 ; 22 c`. 4 is sixel.
    static func attributes(in answer: some Sequence<UInt8>) -> [Int] {
        let text = String(decoding: Array(answer), as: UTF8.self)
        guard let start = text.firstRange(of: "\u{1b}[?"), let end = text[start.upperBound...].firstIndex(of: "c")
        else {
            return []
        }
        return text[start.upperBound..<end].split(separator: ";").compactMap { Int($0) }
    }

    /// How often an image is shown in a second, at most.
    var rate: Int {
        switch self {
        case .kitty: 15
        case .sixel: 10
        case .blocks: 15
        }
    }
}
