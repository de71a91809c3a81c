import HLSGetKit
import HLSKitCore

/// The loop of the window's thread, which handles events, draws due frames and waits. Only that thread uses it.
final class WindowLoop {
    /// How long the text stays visible after the pointer moves.
    private static let pointerTime = Duration.seconds(3)
    /// The longest wait for an event, in milliseconds.
    private static let longestWait: Int32 = 40
    private static let seekInterval = Duration.milliseconds(120)
    private static let captionLead = MediaTime.milliseconds(400)
    private static let opening = "opening"
    private static let textInterval = Duration.milliseconds(200)

    private let scene: WatchScene
    private let send: (WindowThread.Request) -> Void
    private let log: PresentationLog?
    private let screen: WindowScreen
    private let painter = Painter()
    private let title: String
    private let showsDetails: Bool

    // The current content.
    private var shown: FrameQueue<VideoFrame>.Entry?
    /// Whether it still has to be drawn.
    private var isNew = false
    private var takenAt = HostTime.zero
    private var drawingTime = DrawingTime()
    private var isFullscreen = false
    private var staysText = false
    private var pointer: (x: Int, y: Int)?
    private var pointerUntil = HostTime.zero
    /// The end of the text after a seek by key.
    private var textUntil = HostTime.zero
    private var isDragging = false
    /// The column of a pending seek, and its earliest time.
    private var soughtX: Int?
    private var seekDue = HostTime.zero
    private var textDue = HostTime.zero
    private var shownTitle = ""
    private var isStale = true
    private var drawnOverlay = Overlay()

    private struct Overlay: Equatable {
        var captions: Painter.Work?
        var status: Painter.Work?
        var pointer: Painter.Work?
        var bar: [WindowBar.Part] = []
        var thumbnail: Int?
    }

    init(
        _ library: SDLLibrary, scene: WatchScene, options: WindowOptions, log: PresentationLog?,
        send: @escaping (WindowThread.Request) -> Void
    ) throws(HLSError) {
        self.scene = scene
        self.send = send
        self.log = log
        title = options.title
        showsDetails = options.showsDetails
        screen = try WindowScreen(library, options)
        isFullscreen = options.isFullscreen
        shownTitle = options.title
    }

    func run() {
        scene.windowSize = screen.size
        while !scene.isClosing {
            for event in screen.events(waitingAtMost: waitingTime) { handle(event) }
            seek()
            prepareFirstFrame()
            takeFrame()
            draw()
        }
        painter.close()
        scene.closeThumbnails()
        screen.close()
    }

    /// Milliseconds until the next frame is due.
    private var waitingTime: Int32 {
        guard let due = scene.nextDue else { return Self.longestWait }
        let left = (due - scene.now - drawingTime.lead) / .milliseconds(1)
        return Int32(min(max(left.rounded(), 0), Double(Self.longestWait)))
    }

    // MARK: Events

    private func handle(_ event: WindowEvent) {
        switch event {
        case .changed, .texturesLost:
            if event == .texturesLost { screen.forgetTextures() }
            isStale = true
            scene.windowSize = screen.size
        case .pointer(let x, let y):
            pointer = (x, y)
            pointerUntil = scene.now + Self.pointerTime
            if isDragging { soughtX = x }
        case .pointerLeft:
            pointer = nil
            pointerUntil = .zero
        case .press(let x, let y, let clicks):
            pointer = (x, y)
            pointerUntil = scene.now + Self.pointerTime
            if layout.barTarget.contains(x: x, y: y) {
                isDragging = true
                soughtX = x
                seekDue = .zero
            } else if clicks == 2 {
                perform(.toggleFullscreen)
            }
        case .release:
            isDragging = false
            seekDue = .zero
        default: if let command = WindowCommand(event) { perform(command) }
        }
    }

    private func perform(_ command: WindowCommand) {
        switch command {
        case .player(.showHelp): scene.say(WindowCommand.help)
        case .player(let command):
            if case .seek = command { textUntil = scene.now + Self.pointerTime }
            send(.command(command))
        case .toggleFullscreen: setFullscreen(!isFullscreen)
        case .leaveFullscreen: setFullscreen(false)
        case .toggleText: staysText.toggle()
        }
        textDue = .zero
    }

    private func setFullscreen(_ fullscreen: Bool) {
        guard fullscreen != isFullscreen else { return }
        isFullscreen = fullscreen
        screen.setFullscreen(fullscreen)
        isStale = true
    }

    private func seek() {
        guard let x = soughtX, scene.now >= seekDue else { return }
        soughtX = nil
        seekDue = scene.now + Self.seekInterval
        let timeline = StatusLine.timeline(of: scene.player)
        send(.seek(timeline.lowerBound + layout.fraction(atX: x) * (timeline.upperBound - timeline.lowerBound)))
    }

    // MARK: Drawing

    private var layout: WindowLayout { WindowLayout(size: screen.size) }

    /// Draws the first frame early without showing it.
    ///
    /// The graphics system needs several frame durations to prepare for a new frame size.
    private func prepareFirstFrame() {
        guard shown == nil, screen.lacksVideo, let next = scene.nextFrame else { return }
        screen.upload(next)
        screen.begin()
        screen.drawVideo(next, in: layout.video(next.presentationSize))
        screen.begin()
        screen.end()
        isStale = true
    }

    private func takeFrame() {
        takenAt = scene.now
        guard let entry = scene.takeFrame(at: takenAt + drawingTime.lead) else { return }
        shown = entry
        isNew = true
        screen.upload(entry.frame)
        isStale = true
    }

    private func draw() {
        let now = scene.now
        let (player, layout) = (scene.player, layout)
        let isPointing = now < pointerUntil || isDragging
        let message = scene.message(at: now)
        let showsText =
            staysText || isPointing || now < textUntil || message != nil || ScreenText.isNeeded(player)
        if now >= textDue {
            textDue = now + Self.textInterval
            setTitle(player)
            if showsText { wantStatus(player, message, layout) }
        }
        let video = shown.map { layout.video($0.frame.presentationSize) }
        var overlay = Overlay()
        let captions = caption(in: video)
        overlay.captions = captions?.work
        let status = showsText ? painter.image(at: .status) : nil
        overlay.status = status?.work
        let timeline = StatusLine.timeline(of: player)
        let pointedX = isPointing ? columnOnBar(layout) : nil
        if showsText { overlay.bar = WindowBar(player, timeline: timeline, layout, pointedX: pointedX).parts }
        let hover = pointedX.map { pointedPlace(atX: $0, timeline, layout) }
        overlay.pointer = hover?.label?.work
        overlay.thumbnail = hover?.number
        screen.showsPointer = !isFullscreen || isPointing
        guard isStale || overlay != drawnOverlay else { return }
        screen.restoreVideo()
        screen.begin()
        if let shown, let video { screen.drawVideo(shown.frame, in: video) }
        if let captions, var place = video {
            // Move captions up so that the text does not cover them.
            if let status { place.y -= Int32(clamping: layout.lift(of: place, aboveText: status.image.height)) }
            screen.draw(captions.image, as: .captions, in: place)
        }
        if let status {
            let (width, height) = (status.image.width, status.image.height)
            screen.draw(
                status.image, as: .status,
                in: WindowRect(x: 0, y: layout.textBottom - height, width: width, height: height))
        }
        for part in overlay.bar { screen.fill(part.rect, part.color) }
        if let hover { draw(hover, layout) }
        screen.end()
        if isNew { drawingTime.note(scene.now - takenAt) }
        isNew = false
        noteShown()
        isStale = false
        drawnOverlay = overlay
    }

    private func columnOnBar(_ layout: WindowLayout) -> Int? {
        guard let pointer, isDragging || layout.barTarget.contains(x: pointer.x, y: pointer.y) else { return nil }
        return pointer.x
    }

    private func noteShown() {
        guard let log, let entry = shown, entry.due != lastLogged else { return }
        lastLogged = entry.due
        log.note(
            entry.frame, itemTime: entry.itemTime, due: entry.due,
            lateness: entry.due == .zero ? .zero : scene.now - entry.due, at: SourceClock.host.now)
    }

    private var lastLogged: HostTime?

    private func setTitle(_ player: PlayerState) {
        let text = "\(scene.stream?.title ?? title) — \(scene.isOpening ? Self.opening : StatusLine.viewerText(player))"
        guard text != shownTitle else { return }
        shownTitle = text
        screen.setTitle(text)
    }

    private func wantStatus(_ player: PlayerState, _ message: String?, _ layout: WindowLayout) {
        let letters = layout.letterHeight
        let columns = max(20, layout.size.width * 2 / letters)
        let lines =
            message == nil && scene.isOpening
            ? [Self.opening]
            : ScreenText(message: message, columns: columns, showsDetails: showsDetails).lines(player)
        painter.want(
            Painter.Work(
                captions: [Painter.line(lines.joined(separator: "\n"))],
                size: PixelSize(width: layout.size.width, height: letters * 20),
                rowCount: letters * (2 * lines.count + 1)), at: .status)
    }

    private func caption(in video: WindowRect?) -> (work: Painter.Work, image: StillImage)? {
        guard let shown, let video else { return nil }
        let size = PixelSize(width: Int(video.width), height: Int(video.height))
        let now = Self.work(scene.captions(of: shown), size)
        // Draw the next captions in advance.
        if let next = Self.work(scene.captions(of: shown, later: Self.captionLead), size), next != now {
            painter.want(next, at: .upcoming)
        }
        guard let now else { return nil }
        if let image = painter.image(of: now) { return (now, image) }
        painter.want(now, at: .captions)
        return nil
    }

    private static func work(_ cues: [LegibleCue], _ size: PixelSize) -> Painter.Work? {
        guard !cues.isEmpty else { return nil }
        let captions = cues.map { cue in
            var caption = cue.caption
            caption.timeRange = MediaTimeRange(start: .zero, duration: .seconds(1))
            return caption
        }
        return Painter.Work(captions: captions, size: size)
    }

    private struct Hover {
        var x: Int
        var number: Int?
        var image: StillImage?
        var label: (work: Painter.Work, image: StillImage)?
    }

    private func pointedPlace(atX x: Int, _ timeline: Range<Double>, _ layout: WindowLayout) -> Hover {
        let time = timeline.lowerBound + layout.fraction(atX: x) * (timeline.upperBound - timeline.lowerBound)
        let thumbnail = scene.stream?.thumbnails?.image(at: time, of: timeline)
        let letters = layout.letterHeight
        painter.want(
            Painter.Work(
                captions: [Painter.line(Decimals.clock(time), alignment: .center)],
                size: PixelSize(width: letters * 8, height: letters * 20), rowCount: letters * 5 / 2), at: .pointer)
        return Hover(
            x: x, number: thumbnail?.number, image: thumbnail?.image, label: painter.image(at: .pointer))
    }

    private func draw(_ hover: Hover, _ layout: WindowLayout) {
        let size = hover.image.map { PixelSize(width: $0.width, height: $0.height) } ?? PixelSize(width: 1, height: 1)
        let place = layout.thumbnail(size, aboveX: hover.x)
        if let image = hover.image {
            let frame = WindowRect(
                x: Int(place.x) - 2, y: Int(place.y) - 2, width: size.width + 4, height: size.height + 4)
            screen.fill(frame, .frame)
            screen.draw(image, as: .thumbnail(hover.number ?? 0), in: place)
        }
        guard let label = hover.label?.image else { return }
        let left = min(max(hover.x - label.width / 2, 0), max(0, layout.size.width - label.width))
        // Leave an empty line below its text.
        let below = hover.image == nil ? Int(layout.bar.y) - 8 : Int(place.y) + size.height
        let y = below - label.height + layout.letterHeight / 2
        screen.draw(
            label, as: .pointer, in: WindowRect(x: left, y: max(0, y), width: label.width, height: label.height))
    }
}
