import Glibc

enum TerminalQuestion {
    /// How long to wait for a response in milliseconds, which must be enough across a network.
    private static let patience: Int32 = 300

    /// Returns the terminal's response to `CSI c` (primary device attributes), or nothing if it does not respond. The
    /// terminal is the one on standard input. Keys typed during the query are lost.
    static func answer(input: Int32 = STDIN_FILENO, output: StandardStream = .error) -> [UInt8] {
        var settings = termios()
        guard isatty(input) == 1, tcgetpgrp(input) == getpgrp(), tcgetattr(input, &settings) == 0 else { return [] }
        var raw = settings
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(input, TCSANOW, &raw) == 0 else { return [] }
        defer { _ = tcsetattr(input, TCSANOW, &settings) }
        output.write("\u{1b}[c")
        var answer: [UInt8] = []
        while answer.count < 256 {
            var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, patience) > 0 else { break }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(input, &bytes, bytes.count)
            guard count > 0 else { break }
            answer += bytes.prefix(count)
            if let start = answer.firstRange(of: Array("\u{1b}[?".utf8)),
                answer[start.upperBound...].contains(UInt8(ascii: "c"))
            {
                break
            }
        }
        return answer
    }
}
