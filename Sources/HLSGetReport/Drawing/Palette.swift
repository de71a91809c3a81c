/// The colours of drawings and pages, named by meaning. Each contrasts with its background, and shapes in one lane
/// differ in more than their hue.
enum PaletteColor: String, Sendable, CaseIterable {
    case surface, raised, text, muted, grid, link
    case playing, stall, start, seek, paused
    case ahead, variant, throughput, estimate, failure
    case queued, lookup, connect, secure, firstByte, body

    var light: String {
        switch self {
        case .surface: "#ffffff"
        case .raised: "#f5f7f9"
        case .text: "#1a222b"
        case .muted: "#56626e"
        case .grid: "#dfe4e9"
        case .link: "#1d5a96"
        case .playing: "#9fd0c1"
        case .stall: "#cf3f4f"
        case .start: "#e3a53a"
        case .seek: "#8f7ac8"
        case .paused: "#c3cad1"
        case .ahead: "#3f7f6e"
        case .variant: "#174a85"
        case .throughput: "#d2762a"
        case .estimate: "#b98a5e"
        case .failure: "#c22536"
        case .queued: "#c3cad1"
        case .lookup: "#8f7ac8"
        case .connect: "#e3a53a"
        case .secure: "#c4699a"
        case .firstByte: "#8fbbdc"
        case .body: "#2a6aa6"
        }
    }

    var dark: String {
        switch self {
        case .surface: "#11161b"
        case .raised: "#1a2128"
        case .text: "#e4e9ee"
        case .muted: "#9ba8b4"
        case .grid: "#2b343d"
        case .link: "#82b7ec"
        case .playing: "#2d6a5b"
        case .stall: "#ef6472"
        case .start: "#d9982f"
        case .seek: "#9d8ad6"
        case .paused: "#4a545e"
        case .ahead: "#62b39e"
        case .variant: "#7db4f0"
        case .throughput: "#ee9a50"
        case .estimate: "#a98561"
        case .failure: "#ff6b79"
        case .queued: "#4a545e"
        case .lookup: "#9d8ad6"
        case .connect: "#d9982f"
        case .secure: "#d97fae"
        case .firstByte: "#4c7aa0"
        case .body: "#79b2e8"
        }
    }
}

enum DrawingStyle {
    /// For pages: uses the variables that ``variables(isDark:)`` defines.
    static var forPages: String { rules { "var(--\($0.rawValue))" } }

    /// For separate files: uses colours for a white background.
    static var forFiles: String { rules(\.light) }

    static func variables(isDark: Bool) -> String {
        PaletteColor.allCases.map { "--\($0.rawValue):\(isDark ? $0.dark : $0.light)" }.joined(separator: ";")
    }

    private static func rules(_ color: (PaletteColor) -> String) -> String {
        let fills: [(String, PaletteColor)] = [
            ("f-playing", .playing), ("f-stall", .stall), ("f-start", .start), ("f-seek", .seek), ("f-paused", .paused),
            ("f-queued", .queued), ("f-lookup", .lookup), ("f-connect", .connect), ("f-secure", .secure),
            ("f-firstByte", .firstByte), ("f-body", .body), ("f-failure", .failure), ("f-abandoned", .muted),
            ("f-throughput", .throughput), ("f-variant", .variant), ("f-estimate", .estimate), ("f-ahead", .ahead),
        ]
        let lines: [(String, PaletteColor, String)] = [
            ("l-grid", .grid, "1"), ("l-axis", .muted, "1"), ("l-ahead", .ahead, "1.5"), ("l-variant", .variant, "2.5"),
            ("l-estimate", .estimate, "1.3"), ("l-throughput", .throughput, "1.2"), ("l-failure", .failure, "1.5"),
            ("l-stall", .stall, "1"), ("l-network", .estimate, "1"),
        ]
        var css = fills.map { ".\($0.0){fill:\(color($0.1))}" }
        css += lines.map {
            ".\($0.0){fill:none;stroke:\(color($0.1));stroke-width:\($0.2);vector-effect:non-scaling-stroke}"
        }
        css += [
            ".l-estimate{stroke-dasharray:4 3}",
            ".l-variant{stroke-linejoin:round}",
            ".d-throughput{fill:none;stroke:\(color(.throughput));stroke-width:5;stroke-linecap:round;"
                + "vector-effect:non-scaling-stroke}",
            ".a-ahead{fill:\(color(.ahead));fill-opacity:.2}",
            ".a-stall{fill:\(color(.stall));fill-opacity:.13}",
            ".a-start{fill:\(color(.start));fill-opacity:.13}",
            ".a-seek{fill:\(color(.seek));fill-opacity:.13}",
            ".h{fill:transparent}",
            "text{font:12px system-ui,sans-serif;fill:\(color(.text))}",
            ".t-muted{fill:\(color(.muted));font-size:11px}",
            ".t-lane{font-weight:600}",
            ".t-halo{stroke:\(color(.surface));stroke-width:3px;paint-order:stroke;stroke-linejoin:round;"
                + "font-size:11px}",
            ".t-stall{fill:\(color(.stall));font-weight:600;font-size:11px}",
            ".t-start{fill:\(color(.muted));font-size:11px}",
            ".t-variant{fill:\(color(.variant));font-weight:600}",
        ]
        return css.joined(separator: "\n")
    }
}
