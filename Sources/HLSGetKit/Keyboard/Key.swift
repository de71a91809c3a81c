/// A key as a terminal sends it.
package enum Key: Sendable, Equatable {
    case character(Character)
    case left, right, up, down
}

/// Converts the bytes from a terminal to keys. Skips sequences of keys that ``Key`` does not contain.
struct KeyParser: Sendable {
    private enum State { case ground, escape, sequence, oneMore }

    private var state = State.ground

    /// Returns the keys in the bytes. An incomplete sequence is kept for the next call.
    mutating func parse(_ bytes: some Sequence<UInt8>) -> [Key] {
        bytes.compactMap { parse($0) }
    }

    private mutating func parse(_ byte: UInt8) -> Key? {
        switch state {
        case .ground:
            if byte == 0x1B {
                state = .escape
                return nil
            }
            // Control and non-ASCII characters are not commands.
            return (0x20..<0x7F).contains(byte) ? .character(Character(UnicodeScalar(byte))) : nil
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence
            case UInt8(ascii: "O"): state = .oneMore
            case 0x1B: break
            default: state = .ground
            }
            return nil
        case .sequence:
            // Parameters are followed by one byte that names the key (ECMA-48 §5.4).
            guard byte >= 0x40 || byte < 0x20 else { return nil }
            state = .ground
            return Self.arrow(byte)
        case .oneMore:
            state = .ground
            return Self.arrow(byte)
        }
    }

    private static func arrow(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        default: nil
        }
    }
}
