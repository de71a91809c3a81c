import HLSKitEngine
public import HLSKitLoading
public import HLSKitTime

extension Player {
    /// Decodes the first media at the playhead, so that it is there the moment that time begins to run.
    ///
    /// - Parameter rate: The rate that will be set; what is decoded is the same for all that are above zero.
    /// - Returns: True when the media is decoded. False when a seek, a change of the rate, another item,
    ///   ``cancelPendingPrerolls()`` or the end of the task came before.
    /// - Throws: ``HLSError/Code/notReady`` unless the item is ready to play and the rate is 0;
    ///   ``HLSError/Code/invalidArgument`` for a rate that is not finite.
    ///
    /// See docs/behaviour/seeking.md.
    public func preroll(atRate rate: Float) async throws(HLSError) -> Bool {
        guard rate.isFinite else {
            throw HLSError(code: .invalidArgument, cause: "not a rate", detail: "\(rate)")
        }
        let state = state
        guard state.itemStatus == .readyToPlay, state.rate == 0 else {
            throw HLSError(
                code: .notReady, cause: "cannot prepare to play",
                detail: "the item is \(state.itemStatus.rawValue), the rate \(state.rate)")
        }
        return await core.preroll()
    }

    /// Ends the preroll that is under way, if any: it returns false.
    public func cancelPendingPrerolls() { core.control(.cancelPreroll) }

    /// The item time that is presented now; zero without an item.
    public var currentTime: MediaTime { state.currentTime }
}

extension PlayerItem {
    /// Steps forwards or backwards by this many frames while the player is paused. If the frame is not loaded, nothing
    /// happens.
    ///
    /// The frame is shown a moment later; ``PlayerEvent/Kind/timeJumped(to:)`` reports it.
    public func step(byCount count: Int) { attachedCore?.control(.step(count), of: self) }

    /// Whether ``step(byCount:)`` can show later frames. Does not change once the item is ready to play.
    public var canStepForward: Bool { hasPictures }
    /// Whether ``step(byCount:)`` can show earlier frames. Does not change once the item is ready to play.
    public var canStepBackward: Bool { hasPictures }

    private var hasPictures: Bool {
        attachedCore?.read(of: self) { $0.item.map { $0.isReady && $0.hasPictures } } ?? false
    }
}

extension PlayerCore {
    /// Waits until media at the playhead of the current item is decoded. Cancelling the task ends the wait.
    fileprivate func preroll() async -> Bool {
        let waiter = OneShot<Bool>()
        return await withTaskCancellationHandler {
            change { state, afterwards, now in
                guard !state.isClosed, state.current.item != nil else { return afterwards.seeks.end(waiter, false) }
                state.current.prerolls.append(waiter)
                self.handle(.control(.preroll), of: state.current.id, at: now, &state, &afterwards)
            }
            if Task.isCancelled { control(.cancelPreroll) }
            return await waiter.value()
        } onCancel: {
            self.control(.cancelPreroll)
        }
    }
}
