import HLSKitEngine
public import HLSKitLoading
public import HLSKitTime

extension Player {
    /// Decodes the first media at the playhead, so that playback can start without delay.
    ///
    /// - Parameter rate: The rate that you will set. All rates above zero decode the same media.
    /// - Returns: `true` when the media is decoded. `false` if a seek, a rate change, another item,
    ///   ``cancelPendingPrerolls()`` or the cancellation of the task came first.
    /// - Throws: ``HLSError/Code/notReady`` unless the item is ready to play and the rate is 0;
    ///   ``HLSError/Code/invalidArgument`` if the rate is not finite.
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

    /// Cancels the pending preroll, if any, which then returns `false`.
    public func cancelPendingPrerolls() { core.control(.cancelPreroll) }

    /// The item time of the media that is currently presented, or zero if there is no item.
    public var currentTime: MediaTime { state.currentTime }
}

extension PlayerItem {
    /// Steps forwards or backwards by a number of frames while the player is paused.
    ///
    /// The call has no effect if the frame is not loaded. The frame appears a moment later, and the player reports
    /// ``PlayerEvent/Kind/timeJumped(to:)``.
    ///
    /// - Parameter count: The number of frames. Negative values step backwards.
    public func step(byCount count: Int) { attachedCore?.control(.step(count), of: self) }

    /// A Boolean value that indicates whether ``step(byCount:)`` can show later frames.
    ///
    /// The value does not change once the item is ready to play.
    public var canStepForward: Bool { hasFrames }
    /// A Boolean value that indicates whether ``step(byCount:)`` can show earlier frames.
    ///
    /// The value does not change once the item is ready to play.
    public var canStepBackward: Bool { hasFrames }

    private var hasFrames: Bool {
        attachedCore?.read(of: self) { $0.item.map { $0.isReady && $0.hasFrames } } ?? false
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
