package import HLSGetKit

enum WindowEvent: Sendable, Equatable {
    enum SpecialKey: Int32, Sendable {
        case escape = 27
        case f11 = 0x4000_0044
        case right = 0x4000_004F
        case left = 0x4000_0050
        case down = 0x4000_0051
        case up = 0x4000_0052
    }

    case quit
    /// A typed character, by the keyboard layout.
    case text(String)
    case key(SpecialKey)
    case pointer(x: Int, y: Int)
    /// The primary button was pressed; `clicks` is 2 for a double click.
    case press(x: Int, y: Int, clicks: Int)
    case release
    /// Steps of the wheel; positive is up.
    case wheel(Int)
    case pointerLeft
    /// The size changed, or the window must be redrawn.
    case changed
    /// The graphics card lost its textures.
    case texturesLost

    static let byteCount = 56

    /// Returns `nil` for irrelevant events. Numbers are from SDL 2's headers.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount else { return nil }
        func integer(_ offset: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)) }
        switch bytes.loadUnaligned(as: UInt32.self) {
        case 0x100: self = .quit
        case 0x200:
            switch bytes[12] {
            case 1, 3, 5, 6, 8, 9: self = .changed
            case 11: self = .pointerLeft
            case 14: self = .quit
            default: return nil
            }
        case 0x300:
            guard let key = SpecialKey(rawValue: Int32(integer(20))) else { return nil }
            self = .key(key)
        case 0x303:
            let text = String(decoding: bytes[12..<44].prefix { $0 != 0 }, as: UTF8.self)
            guard !text.isEmpty else { return nil }
            self = .text(text)
        case 0x400: self = .pointer(x: integer(20), y: integer(24))
        case 0x401 where bytes[16] == 1: self = .press(x: integer(20), y: integer(24), clicks: Int(bytes[18]))
        case 0x402 where bytes[16] == 1: self = .release
        case 0x403: self = .wheel(integer(20))
        case 0x2000, 0x2001: self = .texturesLost
        default: return nil
        }
    }
}

package enum WindowCommand: Sendable, Equatable {
    /// A command that the terminal has too.
    case player(KeyCommand)
    case toggleFullscreen
    case leaveFullscreen
    /// Switches between text that is always shown and text that appears with the pointer.
    case toggleText

    package static let help = KeyCommand.help + "; window: f full screen, o text, S screenshot"

    init?(_ event: WindowEvent) {
        switch event {
        case .quit: self = .player(.quit)
        case .key(.left): self.init(.left)
        case .key(.right): self.init(.right)
        case .key(.up): self.init(.up)
        case .key(.down): self.init(.down)
        case .key(.escape): self = .leaveFullscreen
        case .key(.f11): self = .toggleFullscreen
        case .text(let text):
            guard text.count == 1, let character = text.first else { return nil }
            switch character {
            case "f": self = .toggleFullscreen
            case "o": self = .toggleText
            default: self.init(.character(character))
            }
        case .wheel(let notches) where notches != 0: self = .player(.changeVolume(notches > 0 ? 1 : -1))
        default: return nil
        }
    }

    private init?(_ key: Key) {
        guard let command = KeyCommand(key) else { return nil }
        self = .player(command)
    }
}
